import { endsOf, type LogRecord } from './records.ts'

/** Programs without a reader of their own, by what only they print: their lines are read like any program's. */
const programs: readonly { readonly framework: string; readonly sign: RegExp }[] = [
  { framework: 'openrlhf', sign: /\bopenrlhf\b|^Episode \[\d+\/\d+\]: /i },
  { framework: 'colossalai', sign: /\bcolossalai\b/i },
  { framework: 'levanter', sign: /\blevanter\b/i },
  { framework: 'easylm', sign: /\bEasyLM\b/ },
  { framework: 't5x', sign: /\bt5x\b/ },
  { framework: 'monai', sign: /\bmonai\b|ignite\.engine/i },
  { framework: 'whisper', sign: /\d+\/\d+ \[.*frames\/s\]/ },
  { framework: 'composer', sign: /\d+\/\d+ \[.*(?:s\/ba|ba\/s)/ },
  { framework: 'sockeye', sign: /\bsockeye\b/i },
  { framework: 'gluon', sign: /\bSpeed: [\d.]+ samples\/sec/ },
  { framework: 'dllogger', sign: /^DLL \d{4}-\d\d-\d\d/ },
  { framework: 'cp2k', sign: /CP2K\|/ },
  { framework: 'allennlp', sign: /\ballennlp\b/ },
  { framework: 'flair', sign: /\bflair\b.*epoch \d+ - iter/i },
  { framework: 'spacy', sign: /^E\s+#\s+LOSS/ },
  { framework: 'yolox', sign: /\byolox\.core\b/ },
  { framework: 'speechbrain', sign: /\bspeechbrain\b/ },
]

/** Which program wrote a log, by its own words; undefined where none is known. */
export function programOf(records: readonly LogRecord[]): string | undefined {
  const ends = endsOf(records)
  return programs.find(({ sign }) => ends.some(({ text }) => sign.test(text)))?.framework
}
