import { GpufareError } from '../errors.ts'
import { runOfMlflow } from './mlflow.ts'
import type { RunFormat } from './run-format.ts'

/** The SQLite file of an MLflow tracking server (`sqlite:///mlflow.db`): its table `runs`, deleted ones left out. */
export const mlflowDatabase: RunFormat = {
  name: 'MLflow database',
  accepts: ([file]) => file !== undefined && new TextDecoder().decode(file.bytes.subarray(0, 15)) === 'SQLite format 3',
  async read([file]) {
    const { default: initSqlJs } = await import('sql.js/dist/sql-wasm-inline.js')
    const sql = await initSqlJs()
    const database = new sql.Database(file?.bytes)
    try {
      const [answer] = database.exec(
        "select run_uuid, name, user_id, status, start_time, end_time from runs where lifecycle_stage = 'active'",
      )
      const rows = answer?.values ?? []
      const ended = rows.filter(([, , , status]) => status !== 'RUNNING' && status !== 'SCHEDULED')
      const runs = ended
        .map(row => {
          const [id = '', name = '', user = '', status = '', start = '', end = ''] = row.map(cell => String(cell ?? ''))
          return runOfMlflow({ id, name, user, status, start, end })
        })
        .filter(run => run !== undefined)
      return { runs, skipped: ended.length - runs.length }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new GpufareError(`${file?.path} is no database of MLflow: ${reason}`, 2)
    } finally {
      database.close()
    }
  },
}
