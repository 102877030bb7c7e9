/**
 * Names that schedulers and portals give to what nobody named: `sbatch --wrap`, a script on standard input, interactive
 * sessions, Open OnDemand (`sys/dashboard/…`) and JupyterHub. Two runs of such a name have nothing in common.
 */
const givenNames =
  /^$|^(wrap|sbatch|interactive|bash|sh|allocation|salloc|none|\(null\))$|^sys\/dashboard\/|^spawner-jupyterhub|^jupyter/i

/** Whether a name says what runs. */
export function isTelling(name: string): boolean {
  return !givenNames.test(name)
}

/**
 * The name without what varies from run to run: digests (eight and more hexadecimal digits with a digit among them), dates and counters become `#`.
 * A number may also be a parameter (`lr0.1`), so equal masked names are a weaker likeness than equal names.
 */
export function maskedName(name: string): string {
  return name
    .toLowerCase()
    .replace(/(?<![a-z0-9])(?=[a-f]*\d)[0-9a-f]{8,}(?![a-z0-9])/g, '#')
    .replace(/\d+/g, '#')
    .replace(/#(?:[-_.:t]#)+/g, '#')
}
