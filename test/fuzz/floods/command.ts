import { parseArgs } from 'node:util'
import { startPostgresCluster } from '../../support/datastores/postgres-cluster.ts'
import { FLOODS, type Flood } from './floods.ts'
import { mebibytes, tryFlood, type Outcome } from './trial.ts'

/** Where the lines of a run go. */
export type Print = (line: string) => void

const USAGE = `usage: npm run fuzz -- floods [--store embedded|postgres] [--dist DIR] [--seconds N] [--scale PART] [--only NAME,…]
floods: ${FLOODS.map(({ name }) => name).join(', ')}`

/** Runs the floods as the command line asks, each against a fresh server. Returns the exit code: 1 where a server did not stand one. */
export async function run(args: readonly string[], print: Print): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string', default: 'embedded' },
      dist: { type: 'string', default: 'dist' },
      seconds: { type: 'string', default: '25' },
      scale: { type: 'string', default: '1' },
      only: { type: 'string' },
    },
  })
  const floods = chosen(values.only)
  const [seconds, scale] = [Number(values.seconds), Number(values.scale)]
  const isRange = seconds > 0 && scale > 0 && scale <= 1
  if (floods === undefined || !isRange || !['embedded', 'postgres'].includes(values.store)) {
    print(USAGE)
    return 2
  }
  const cluster = values.store === 'postgres' ? await startPostgresCluster() : undefined
  try {
    let isWhole = true
    for (const flood of floods) {
      print(`${flood.name}: ${flood.what}, ${seconds} s`)
      const databaseUrl = await cluster?.createDatabase()
      const outcome = await tryFlood(flood, { dist: values.dist, databaseUrl, seconds, scale, settleSeconds: 20 })
      for (const line of linesOf(outcome)) print(`  ${line}`)
      print(JSON.stringify(outcome))
      isWhole &&= outcome.faults.length === 0
    }
    return isWhole ? 0 : 1
  } finally {
    await cluster?.stop()
  }
}

/** The floods of those names; undefined where one of them is none. */
function chosen(only: string | undefined): readonly Flood[] | undefined {
  if (only === undefined) return FLOODS
  const found = only.split(',').map((name) => FLOODS.find((flood) => flood.name === name))
  return found.every((flood) => flood !== undefined) ? found : undefined
}

function linesOf(outcome: Outcome): readonly string[] {
  const {
    peakBytes,
    settledBytes,
    sentBytes,
    connections,
    logBytes,
    auditRowsLost,
    lagSeconds,
    heartbeatMs,
    readMs,
    writeMs,
    exit,
  } = outcome
  const ms = (value: number | undefined): string => (value === undefined ? 'failed' : `${Math.round(value)} ms`)
  return [
    `memory: ${mebibytes(peakBytes)} MiB at the peak, ${mebibytes(settledBytes)} MiB 20 s later`,
    `sent: ${mebibytes(sentBytes)} MiB on ${connections} connections; log: ${logBytes} bytes; audit rows lost: ${auditRowsLost}; event loop ${Math.round(lagSeconds * 1_000)} ms late at most; heartbeats of another node ${Math.round(heartbeatMs)} ms at most`,
    `after it: a read ${ms(readMs)}, a write ${ms(writeMs)}; SIGTERM: ${exit}`,
    ...outcome.faults.map((fault) => `FAULT: ${fault}`),
  ]
}
