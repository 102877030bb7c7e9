import { htmlText } from '../escaping.ts'

/** One cell: what is shown, and what a column is sorted by where that is a number. */
export interface HtmlCell {
  readonly text: string
  readonly order?: number | undefined
}

/** Looks of the page, for light and dark, wide and narrow; contrasts of text are above 4.5 (WCAG 2.2, 1.4.3). */
const style = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#57606a;--line:#d5dae0;--band:#f5f7f9;--good:#116329;--bad:#a40e26;--warn:#7d4e00;--mark:#0550ae}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0f1318;--soft:#9aa5b1;--line:#353d47;--band:#181e25;--good:#56d364;--bad:#ff938a;--warn:#e3b341;--mark:#79c0ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:68rem;padding:1.2rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:.4rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .4rem}
p{margin:.4rem 0}.soft{color:var(--soft)}
.deny,.broken{color:var(--bad)}.warn,.unknown{color:var(--warn)}.pass{color:var(--good)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.45rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
td.long{min-width:14rem;white-space:normal;overflow-wrap:break-word}tr:last-child>td{border-bottom:0}th{background:var(--band);white-space:nowrap}
th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:.2rem 0;cursor:pointer}
th button::after{content:" \\2195";color:var(--soft)}th[aria-sort=ascending] button::after{content:" \\2191"}th[aria-sort=descending] button::after{content:" \\2193"}
tr.written td{font-weight:600}
:focus-visible{outline:2px solid var(--mark);outline-offset:2px}
.findings{padding-left:1.2rem}.findings li{margin:.6rem 0}
svg{display:block;width:100%;max-width:40rem;height:auto;margin:.6rem 0}
svg text{font:13px system-ui,sans-serif;fill:var(--ink)}.grid{stroke:var(--line)}
.point path{stroke:var(--mark);stroke-width:2;fill:none}.point circle{fill:var(--paper);stroke:var(--mark);stroke-width:2}
.written circle{fill:var(--mark)}.written text{fill:var(--paper);font-weight:600}
@media(max-width:40rem){body{padding:.8rem}h1{font-size:1.35rem}}
@media print{.scroll{overflow:visible}}
`

/** Sorts a table by the column whose heading is pressed: by the cells' figures, where they have some, with the unknown last. */
const script = `
for(const button of document.querySelectorAll("th button"))button.addEventListener("click",()=>{
const head=button.closest("th"),column=head.cellIndex,body=head.closest("table").tBodies[0];
const direction=head.getAttribute("aria-sort")==="ascending"?-1:1;
for(const other of head.parentElement.cells)other.setAttribute("aria-sort","none");
head.setAttribute("aria-sort",direction===1?"ascending":"descending");
const order=row=>{const value=row.cells[column].dataset.order;return value===undefined?undefined:Number(value)};
const compare=(a,b)=>{const x=order(a),y=order(b);
if(x===undefined&&y===undefined)return direction*a.cells[column].textContent.localeCompare(b.cells[column].textContent);
if(x===undefined)return 1;if(y===undefined)return -1;return direction*(x-y)};
body.append(...[...body.rows].sort(compare))});
`

/** Nothing but the page's own style and script counts, by their SHA-256, whatever else might have come into it; a test computes them. */
const allowed = {
  style: 'sha256-oTWkUjye2nFz0qPqxIe/lRK8Gm5HVlHzrQusMeNT2yE=',
  script: 'sha256-8D01Zzngaic6HmusmRPYBonZeWZGcNW2UaKdkuXjKxU=',
} as const

/** A page in one file that asks for nothing from anywhere. `body` is HTML, all text in it escaped already. */
export function htmlPage(title: string, body: readonly string[]): string {
  const policy = `default-src 'none'; style-src '${allowed.style}'; script-src '${allowed.script}'; base-uri 'none'; form-action 'none'`
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${htmlText(title)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    ...body,
    `<script>${script}</script>`,
    '</body>',
    '</html>',
  ].join('\n')
}

/** A table whose headings sort it; `label` says what it is to who cannot see it. */
export function htmlTable(
  label: string,
  columns: readonly string[],
  rows: readonly { readonly cells: readonly HtmlCell[]; readonly marked?: boolean }[],
): string[] {
  return [
    `<div class="scroll" role="region" tabindex="0" aria-label="${htmlText(label)}"><table>`,
    `<thead><tr>${columns.map(heading).join('')}</tr></thead>`,
    '<tbody>',
    ...rows.map(
      ({ cells, marked }) => `<tr${marked === true ? ' class="written"' : ''}>${cells.map(cellOf).join('')}</tr>`,
    ),
    '</tbody></table></div>',
  ]
}

function heading(column: string): string {
  return `<th scope="col" aria-sort="none"><button type="button">${htmlText(column)}</button></th>`
}

/** Texts that need room, lest a phone shows a word a line. */
const longCell = 24

function cellOf({ text, order }: HtmlCell): string {
  const long = text.length > longCell ? ' class="long"' : ''
  return `<td${long}${order === undefined ? '' : ` data-order="${order}"`}>${htmlText(text)}</td>`
}
