/** The build of sql.js that is one JavaScript file; @types/sql.js describes only the others, which have the same interface. */
declare module 'sql.js/dist/sql-wasm-inline.js' {
  export { default } from 'sql.js'
}
