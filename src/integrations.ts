import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text of a file that others run or read, `pre-push`: from src/ as from dist/. */
export function readIntegration(name: string): string {
  return readFileSync(join(import.meta.dirname, 'integrations', name), 'utf8')
}
