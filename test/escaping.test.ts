import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  csvCell,
  htmlText,
  markdownText,
  plainText,
  visibleJson,
  workflowMessage,
  workflowProperty,
} from '../src/escaping.ts'

describe('plain text', () => {
  test.each([
    ['escape sequences of a terminal', '\u001b[31mred\u001b[0m', '\\u001b[31mred\\u001b[0m'],
    ['their one-character form', '\u009b31m', '\\u009b31m'],
    ['a bell and a backspace', 'a\u0007\b', 'a\\u0007\\u0008'],
    ['a turned direction', 'train\u202egpj.sh', 'train\\u202egpj.sh'],
    ['isolates', '\u2066a\u2069', '\\u2066a\\u2069'],
    ['a character without width', 'tr\u200bain', 'tr\\u200bain'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
    ['half a pair', 'a\ud83d', 'a\\ud83d'],
    ['line breaks', 'a\r\nb\tc', 'a b c'],
    ['a workflow command', '::error::pwned', ': :error::pwned'],
    ['a workflow command after a space', 'a  ::set-output name=x::y', 'a  : :set-output name=x::y'],
    ['a workflow command of the old form', 'a ##[error]b', 'a # #[error]b'],
    ["a command of Azure's agent", '##vso[task.setvariable variable=x]y', '# #vso[task.setvariable variable=x]y'],
  ])('shows or breaks up %s', (_, text, shown) => {
    expect(plainText(text)).toBe(shown)
  })

  test.each(['train-7b', 'Modèle 训练 🚂', 'std::vector', '## heading', 'a: b', "it's 50 % = \\o/"])(
    'leaves %j',
    text => {
      expect(plainText(text)).toBe(text)
    },
  )

  test('is one line without controls, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const plain = plainText(text)
        expect(plain).not.toMatch(/\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}/u)
      }),
    )
  })
})

describe('Markdown', () => {
  test.each([
    ['a cell that would end', 'a|b', 'a\\|b'],
    ['HTML', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['a comment that would hide the rest', '<!-- gpufare', '&lt;!-- gpufare'],
    ['a character reference', '&lt;b&gt;', '&amp;lt;b&amp;gt;'],
    ['code', '`rm`', '\\`rm\\`'],
    ['a link', '[here](https://x.example)', '\\[here\\](https:&#8203;//x.example)'],
    ['an image', '![x](//x.example/pixel)', '!\\[x\\](//x.example/pixel)'],
    ['an address', 'www.x.example', 'www.&#8203;x.example'],
    ['a person', '@torvalds', '@&#8203;torvalds'],
    ['an issue', 'see #12 and !34', 'see #&#8203;12 and !&#8203;34'],
    ['emphasis', '**a** _b_ ~~c~~', '\\*\\*a\\*\\* \\_b\\_ \\~\\~c\\~\\~'],
    ['what would become a formula', 'x$70-$102$', 'x&#36;70-&#36;102&#36;'],
    ['a heading', '# a', '\\# a'],
    ['an item', '- a', '\\- a'],
    ['a numbered item', '1. a', '1\\. a'],
    ['a rule', '---', '\\---'],
    ['several lines', 'a\n# b', 'a # b'],
  ])('stays text: %s', (_, text, escaped) => {
    expect(markdownText(text)).toBe(escaped)
  })

  test.each(['$180 (P50) is over $100', '+$44', '-$22', '8x A100, $3.2/h', 'jobs/train-7b.sbatch:4'])(
    '%s stays as it is',
    text => {
      expect(markdownText(text)).toBe(text)
    },
  )
})

test('HTML holds neither tags nor ends of attributes', () => {
  expect(htmlText(`"><script>'&`)).toBe('&#34;&#62;&#60;script&#62;&#39;&#38;')
})

describe('a cell of CSV', () => {
  test.each([
    ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
    ['+1+cmd|calc', `"'+1+cmd|calc"`],
    ['-2+3', `"'-2+3"`],
    ['@SUM(A1)', `"'@SUM(A1)"`],
    ['  =1', `"'  =1"`],
    ['\t=1', `"' =1"`],
    ['＝1', `"'＝1"`],
    ['a,b', '"a,b"'],
    ['a\nb', 'a b'],
    ['a "b"', '"a ""b"""'],
    ['train', 'train'],
    [-3.5, '-3.5'],
    [undefined, ''],
  ])('of %j is %j', (value, cell) => {
    expect(csvCell(value)).toBe(cell)
  })
})

test('a workflow command ends where it should', () => {
  expect(workflowMessage('50 %\n::error::x')).toBe('50 %25 : :error::x')
  expect(workflowProperty('a,line=1::b\n::error::')).toBe('a%2Cline=1%3A%3Ab %3A %3Aerror%3A%3A')
})

test('JSON that is shown means the same', () => {
  const value = { name: '##[error]a \u009b31m \u202e ##vso[x]', list: [1] }
  const json = visibleJson(JSON.stringify(value, null, 2))
  expect(JSON.parse(json)).toEqual(value)
  expect(json).not.toMatch(/[^\P{Cc}\n]|\u202e|##(vso)?\[/u)
})
