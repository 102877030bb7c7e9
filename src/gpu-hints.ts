/**
 * GPU models as people write them into the names of partitions, pools and queues. Names that are also those of machine
 * families (GCP a2, AWS p4) are left out: what is found here is a guess already.
 */
const MODEL =
  /(?:^|[^a-z0-9])((?:gb[23]00|gh200|[bh][23]00|h100|h800|h20|a100|a800|a10g?|a16|a30|a40|l40s?|l4|l20|v100s?|t4|p100|p40|k80|mi\d{3}[ax]?|(?:rtx[-_ ]?)?a[456]000|rtx[-_ ]?\d{4}(?:ti)?)(?:[-_]?\d+gb?)?)(?![a-z0-9])/i

/** The GPU model that a name contains, as it is written there; undefined where it contains none. */
export function findGpuHint(name: string): string | undefined {
  return MODEL.exec(name)?.[1]
}
