/** Keys that a SkyPilot task has at its top, and no Kubernetes object. */
const OWN_KEYS = /^(?:resources|num_nodes|setup|run|envs|file_mounts|workdir|service|pool)\s*:/gm

/** Whether a text is a SkyPilot task: `resources` or `run` at the top of a YAML document, beside another key of a task. */
export function looksLikeTask(text: string): boolean {
  if (/^#!|^#SBATCH/m.test(text) || /^[ \t{,-]*["']?(?:apiVersion|kind)["']?\s*:/m.test(text)) return false
  const keys = new Set(Array.from(text.matchAll(OWN_KEYS), ([key]) => key.replace(/\s*:$/, '')))
  if (!keys.has('resources') && !keys.has('run')) return false
  return keys.size > 1 || (keys.has('resources') && /^\s+(?:accelerators|gpus)\s*:/m.test(text))
}
