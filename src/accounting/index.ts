import { GpufareError } from '../errors.ts'
import { csvRuns } from './csv-runs.ts'
import { mlflow } from './mlflow.ts'
import { mlflowDatabase } from './mlflow-database.ts'
import type { ReadRuns, RunFile, RunFormat } from './run-format.ts'
import { sacctJson } from './sacct-json.ts'
import { sacctText } from './sacct-text.ts'
import { wandb } from './wandb.ts'

/** Every format that earlier runs are read from. */
export const runFormats: readonly RunFormat[] = [mlflowDatabase, sacctText, sacctJson, wandb, mlflow, csvRuns]

/** Reads earlier runs in whatever format they are written. Throws GpufareError where it is none of those known. */
export async function readRuns(
  files: readonly RunFile[],
  path: string,
): Promise<ReadRuns & { readonly format: RunFormat }> {
  const format = runFormats.find(each => each.accepts(files))
  if (format === undefined) {
    throw new GpufareError(
      `${path} is in no format that earlier runs are read from`,
      2,
      'these are: sacct -P with its head line, sacct --json, CSV with an elapsed column, MLflow (mlruns/ or its SQLite file), exports of W&B',
    )
  }
  return { ...(await format.read(files)), format }
}
