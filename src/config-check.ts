import { ConfigFile, looseClusters } from './config-schema.ts'
import { type DocumentPath, isMapping, tryCheck, valueAt, type YamlDocument } from './document.ts'
import { type Fault, InputError } from './errors.ts'

/** A configuration file as its schema knows it. Throws InputError with every fault, in the order of the file. */
export function checkConfig(document: YamlDocument): ConfigFile {
  const checked = tryCheck(ConfigFile, document)
  if (!('faults' in checked)) return checked.value
  const faults = [...checked.faults, ...faultsOfLooseClusters(document)]
  throw new InputError(faults.toSorted((a, b) => (a.place.line ?? 0) - (b.place.line ?? 0)))
}

/** A cluster whose scheduler is not known is checked against no schema: its lists tell which one is meant. */
function faultsOfLooseClusters(document: YamlDocument): readonly Fault[] {
  const clusters = valueAt(document.value, ['clusters'])
  if (!Array.isArray(clusters)) return []
  return clusters.flatMap((cluster: unknown, index) => {
    if (!isMapping(cluster) || cluster['scheduler'] === 'slurm' || cluster['scheduler'] === 'kubernetes') return []
    const path: DocumentPath = ['clusters', index]
    const { slurm, kubernetes } = looseClusters
    const checked = 'node-pools' in cluster ? tryCheck(kubernetes, document, path) : tryCheck(slurm, document, path)
    return 'faults' in checked ? checked.faults : []
  })
}
