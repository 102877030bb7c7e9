import type { LogRecord } from './records.ts'

/** Programs without a reader of their own, by what only they print: their lines are read like any program's. */
const programs: readonly { readonly framework: string; readonly sign: RegExp }[] = [
  { framework: 'verl', sign: /\bverl\b.*(?:trainer|ray_trainer)|timing_s\/step|actor\/pg_loss/ },
  { framework: 'openrlhf', sign: /\bopenrlhf\b/i },
  { framework: 'colossalai', sign: /\bcolossalai\b/i },
  { framework: 'levanter', sign: /\blevanter\b/i },
  { framework: 'easylm', sign: /\bEasyLM\b/ },
  { framework: 't5x', sign: /\bt5x\b/ },
  { framework: 'monai', sign: /\bmonai\b|ignite\.engine/i },
  { framework: 'xgboost', sign: /\bxgboost\b|\[\d+\]\s+(?:train|validation_\d+)-\w+:/ },
  { framework: 'lightgbm', sign: /\[LightGBM\]/ },
  { framework: 'catboost', sign: /^\d+:\s+learn: [\d.]+.*total: .* remaining:/ },
  { framework: 'coqui-tts', sign: /--> STEP: \d+\/\d+|--> TRAIN PERFORMACE/ },
  { framework: 'gluon', sign: /\bSpeed: [\d.]+ samples\/sec/ },
  { framework: 'dllogger', sign: /^DLL \d{4}-\d\d-\d\d/ },
  { framework: 'openmm', sign: /#"Progress \(%\)"|#"Step"/ },
  { framework: 'quantum-espresso', sign: /Program PWSCF/ },
  { framework: 'cp2k', sign: /CP2K\|/ },
  { framework: 'vasp', sign: /\bvasp\.\d/i },
  { framework: 'fastai', sign: /^epoch\s+train_loss\s+valid_loss/ },
  { framework: 'allennlp', sign: /\ballennlp\b/ },
  { framework: 'flair', sign: /\bflair\b.*epoch \d+ - iter/i },
  { framework: 'spacy', sign: /^E\s+#\s+LOSS/ },
  { framework: 'speechbrain', sign: /\bspeechbrain\b/ },
]

/** Which program wrote a log, by its own words; undefined where none is known. */
export function programOf(records: readonly LogRecord[]): string | undefined {
  return programs.find(({ sign }) => records.some(({ text }) => sign.test(text)))?.framework
}
