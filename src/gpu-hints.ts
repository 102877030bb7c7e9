/**
 * GPU models as people write them into the names of partitions, pools and queues. Names that are also those of machine
 * families (GCP a2, AWS p4) are left out: what is found here is a guess already. They stand alone or as in `gpuA100x4`, `DGXA100`
 * `a100q` and `a100nv` (with NVLink).
 */
const MODEL = new RegExp(
  `(?:^|[^a-z0-9]|gpus?|[dh]gx)(${[
    // data center
    '(?:gb[23]00|gh200|[bh][23]00|h100|h800|h20|a100|a800|a10g?|a16|a30|a40|l40s?|l4|l20|v100s?|t4)(?:[-_]?\\d+gb?|[-_](?:16|32|40|80))?',
    'p100|p40|m60|m40|k80m?|k40m?|k20[mx]?|mi\\d{3}[ax]?',
    // workstation
    '(?:rtx[-_ ]?)?(?:[456]000[-_]?ada|pro[-_]?6000|a[456]000)|rtx[-_ ]?[4568]000|p6000',
    // games
    'gtx[-_ ]?\\d{3,4}(?:[-_ ]?ti)?|(?:rtx[-_ ]?)?(?:10[78]0ti|20[678]0(?:[-_ ]?(?:ti|super))?|[345]0[6-9]0(?:[-_ ]?ti)?)',
    'titan[-_ ]?(?:rtx|xp|x|v)',
  ].join('|')})(?=$|[^a-z0-9]|x\\d|(?:[qs]|nv)(?![a-z0-9]))`,
  'i',
)

/** The GPU model that a name contains, as it is written there; undefined where it contains none. */
export function findGpuHint(name: string): string | undefined {
  return MODEL.exec(name)?.[1]
}
