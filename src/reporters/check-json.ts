import type { CheckReporter } from '../check-report.ts'
import { visibleJson } from '../escaping.ts'

/** Raised when a reader of the old form would misread the new one. */
const schemaVersion = 1

/** The outcome for programs: plain numbers with the unit in the key, US dollars; `gpufare-check.schema.json` describes it. */
export const checkJson: CheckReporter = {
  name: 'json',
  render: report => visibleJson(JSON.stringify({ schemaVersion, ...report }, null, 2)),
}
