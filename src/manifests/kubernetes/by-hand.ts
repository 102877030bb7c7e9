import type { DocumentPath, YamlDocument } from '../../document.ts'
import { describePlace, GpufareError } from '../../errors.ts'
import type { Alteration } from './edits.ts'

/** What is said where a manifest cannot be changed safely. */
export function byHand(place: { file: string; line?: number }, reason: string): GpufareError {
  return new GpufareError(
    `${describePlace(place)}  cannot be changed to other GPUs safely: ${reason}`,
    2,
    'change it by hand, or submit it as it is',
  )
}

/** An alteration that must be possible. */
export function must(
  alteration: Alteration | undefined,
  document: YamlDocument,
  path: DocumentPath,
  reason: string,
): Alteration {
  if (alteration === undefined) throw byHand(document.placeOf(path), reason)
  return alteration
}
