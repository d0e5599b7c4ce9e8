// Runs all benchmarks, one at a time, for a calendar that starts it every night on a machine with nothing else to do. Keeps what
// they measured as JSON, compares it with the runs before, and draws how each figure developed. Arguments: --folder=DIR (figures),
// --only=NAME,NAME. The last line is `N passed, N failed, N skipped`: a benchmark fails when it does not end well, or when one of
// its figures became worse than the runs before explain.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { printTable, round } from '../test/bench/support/report.mjs'
import { comparedRuns, plotsOfRuns, plotsOfSizes, recordsIn } from './lib/figure-runs.mjs'
import { percent } from './lib/figures.mjs'
import { runWell } from './lib/package-manager.mjs'
import { root } from './lib/root.mjs'

/** No benchmark takes half as long on two cores; one that hangs must not cost the night. */
const BENCH_MAX_MS = 3 * 3_600_000

const valueOf = (name) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)
const folder = resolve(valueOf('folder') ?? join(root, 'figures'))

function benchmarks() {
  const known = readdirSync(join(root, 'test/bench'))
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => file.slice(0, -4))
  const asked = valueOf('only')?.split(',') ?? known
  const unknown = asked.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    process.stderr.write(`No such benchmark: ${unknown.join(', ')}. There are ${known.join(', ')}.\n`)
    process.exit(2)
  }
  return asked
}

async function machine() {
  const commit = (await runWell('git', ['rev-parse', 'HEAD'], { cwd: root })).trim()
  const hardware = { cpu: cpus()[0]?.model, cores: availableParallelism(), memory_bytes: totalmem() }
  return { commit, node: process.version, ...hardware }
}

/** Runs one benchmark; what it printed is printed as well, so that a person can follow. */
async function measure(name) {
  const startedAt = Date.now()
  const load = round(loadavg()[0])
  const child = spawn(process.execPath, [join(root, 'scripts/bench.mjs'), name], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: BENCH_MAX_MS,
    killSignal: 'SIGTERM',
  })
  child.stdout.pipe(process.stdout, { end: false })
  const [printed, [code, signal]] = await Promise.all([
    text(child.stdout),
    new Promise((done) => child.once('close', (...how) => done(how))),
  ])
  const end = code === 0 ? {} : { failure: `it ended with ${signal ?? `exit code ${code}`}` }
  return { seconds: Math.round((Date.now() - startedAt) / 1000), load, ...end, records: recordsIn(printed) }
}

/** The runs before on the same kind of machine, the oldest first. */
function formerRuns({ cpu, cores }) {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
    .filter((run) => run.cpu === cpu && run.cores === cores)
}

/** A file is whole or absent. */
function write(path, content) {
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}

if (!existsSync(join(root, 'dist/ctl/main.cjs'))) {
  process.stderr.write('Nothing is built yet: npm run build\n')
  process.exit(2)
}
const names = benchmarks()
mkdirSync(folder, { recursive: true })
const about = await machine()
const former = formerRuns(about)
const run = { at: new Date().toISOString(), ...about, benches: {} }
const file = join(folder, `${run.at.replaceAll(/[:.]/g, '-')}.json`)
for (const name of names) {
  process.stdout.write(`\n== ${name}\n`)
  run.benches[name] = await measure(name)
  // What is measured is kept, even when the machine is switched off before the end.
  write(file, `${JSON.stringify(run, undefined, 2)}\n`)
}

const compared = comparedRuns(former, run)
const moved = compared.filter(({ isWorse, change, spread }) => isWorse || Math.abs(change) > Math.max(0.1, spread))
if (moved.length > 0)
  printTable(
    ['record', 'figure', 'before', 'now', 'change', 'spread before', 'verdict'],
    moved.map(({ record, figure, was, is, change, spread, isWorse }) => [
      record,
      figure,
      round(was),
      round(is),
      percent(change),
      percent(spread),
      isWorse ? 'WORSE' : 'better',
    ]),
  )
for (const [name, svg] of [...plotsOfRuns([...former, run]), ...plotsOfSizes(run)])
  write(join(folder, `${name}.svg`), svg)
const failedOnes = names.filter(
  (name) => run.benches[name].failure !== undefined || moved.some(({ bench, isWorse }) => bench === name && isWorse),
)
for (const name of failedOnes)
  process.stdout.write(`FAILED  ${name}: ${run.benches[name].failure ?? 'figures became worse'}\n`)
process.stdout.write(`The figures are in ${file}, with a plot of each benchmark beside them.\n`)
process.stdout.write(`${names.length - failedOnes.length} passed, ${failedOnes.length} failed, 0 skipped\n`)
process.exitCode = failedOnes.length === 0 ? 0 : 1
