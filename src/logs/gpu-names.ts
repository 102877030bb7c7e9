import type { LogRecord } from './records.ts'

/** How drivers call their GPUs: in nvidia-smi and rocm-smi, and where PyTorch, TensorFlow and Lightning name the device. */
const driverNames =
  /\b(?:NVIDIA (?!Corporation|Driver|CUDA|Container|System|Open|APEX|Apex|DALI|NCCL|Release|Deep|and\b)|Tesla |Quadro |AMD Instinct )[A-Z][\w-]*(?: (?!Off\b|On\b)[A-Z0-9][\w-]*){0,3}/g

/** The GPU types that a log names, each once, as the driver calls them. */
export function gpuNamesIn(records: readonly LogRecord[]): readonly string[] {
  return [...new Set(records.flatMap(({ text }) => text.match(driverNames) ?? []).map(name => name.trim()))]
}
