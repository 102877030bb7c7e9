import { numberIn, type Row } from './csv.ts'

/** A public data set's training split. */
export interface Dataset {
  readonly name: string
  /** Images, texts, clips or pairs. */
  readonly samples?: number
  /** All of its text, as this tokenizer counts. */
  readonly tokens?: { readonly count: number; readonly tokenizer: string }
  readonly source: string
}

/** Finds a data set by a spelling of its name that `canonicalDataset` made. */
export interface DatasetTable {
  find(spelling: string): Dataset | undefined
}

/** Reads the rows of datasets.csv into a table. */
export function openDatasets(rows: readonly Row[]): DatasetTable {
  const bySpelling = new Map(rows.flatMap(row => spellingsOf(row).map(spelling => [spelling, row] as const)))
  return {
    find: spelling => {
      const row = bySpelling.get(spelling)
      return row === undefined ? undefined : datasetOf(row)
    },
  }
}

/** All names of a row, as they are looked up. */
export function spellingsOf(row: Row): readonly string[] {
  return [row['name'] ?? '', ...(row['aliases'] ?? '').split(';')].filter(name => name !== '').map(canonicalDataset)
}

function datasetOf(row: Row): Dataset {
  const samples = numberIn(row, 'samples')
  const tokens = numberIn(row, 'tokens')
  return {
    name: row['name'] ?? '',
    ...(samples !== undefined && { samples }),
    ...(tokens !== undefined && { tokens: { count: tokens, tokenizer: row['tokenizer'] ?? '' } }),
    source: row['source'] ?? '',
  }
}

/** Lower case, without separators inside a name; the parts of a hub name stay apart. */
export function canonicalDataset(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.(ya?ml|json)$/, '')
    .replace(/[-_ .]/g, '')
}

/**
 * The data set that a name means. One of the same name under another organisation of a hub may be anything. With a
 * configuration (`wikitext` and `wikitext-103-raw-v1`, `glue` and `mnli`) the name alone says nothing.
 */
export function findDataset(name: string, configuration: string | undefined, table: DatasetTable): Dataset | undefined {
  const isPlain = configuration === undefined || /^(default|plain_text|all|main|train)$/.test(configuration)
  return table.find(canonicalDataset(isPlain ? name : `${name}/${configuration}`))
}

/** The data set that the folders of a path are named after, the innermost that is known; a hint and no more. */
export function datasetOfFolder(path: string, table: DatasetTable): Dataset | undefined {
  const folders = path.split('/').filter(folder => folder !== '')
  return folders.map(folder => table.find(canonicalDataset(folder))).findLast(found => found !== undefined)
}
