import type { FigurePattern } from './figures.ts'

/** Figures that many programs print in like words: arguments, banners of trainers, launchers. */
export const commonFigures: readonly FigurePattern[] = [
  { figure: 'worldSize', pattern: /\busing world size: (\d+)/ },
  { figure: 'worldSize', pattern: /\b(?:dist_|distributed_)?world[_ ]size['"]?\s*[.=: ]+\s*(\d+)/i },
  {
    figure: 'worldSize',
    pattern: /\b(?:global_num_gpus|num_gpus|num_devices|n_gpus|nproc|ngpus?)['"]?\s*[.=: ]{1,40}(\d+)\b/i,
  },
  { figure: 'worldSize', pattern: /\bNum(?:ber of)? (?:processes|GPUs|devices)\s*[:=]\s*(\d+)/i },
  { figure: 'worldSize', pattern: /\bNum_devices: (\d+)/ },
  { figure: 'worldSize', pattern: /\bStarting with (\d+) processes/ },
  { figure: 'worldSize', pattern: /\btraining on (\d+) (?:devices|GPUs)/i },
  { figure: 'worldSize', pattern: /\bGPU number: (\d+)/ },
  { figure: 'globalBatch', pattern: /Total train batch size \(w\. parallel, distributed & accumulation\) = ([\d,]+)/ },
  { figure: 'globalBatch', pattern: /\b(?:effective )?global[ _-]?batch[ _-]?size\)?['"]?\s*[.=: (]+\s*(\d+)/i },
  { figure: 'globalBatch', pattern: /\b(?:effective|total)[ _]batch[ _]size['"]?\s*[.=:( ]+\s*(\d+)/i },
  { figure: 'globalBatch', pattern: /^\s*train_batch_size['"]?\s*[.=: ]+\s*(\d+)/ },
  { figure: 'stepsTotal', pattern: /Total optimization steps\s*(?:\/[^=:]*)?[=:] ([\d,]+)/i },
  { figure: 'epochsTotal', pattern: /\bNum Epochs = ([\d,]+)/ },
  { figure: 'epochsTotal', pattern: /\b[Tt]raining for (\d+) epochs\b/ },
]
