import type { Manifest } from '../../manifest.ts'
import type { Retarget } from '../manifest-format.ts'

export function retargetScript(manifest: Manifest, _target: Retarget): string {
  return manifest.text
}
