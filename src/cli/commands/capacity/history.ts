import { writeFile } from 'node:fs/promises'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { targetsOf } from '../../derive/input.ts'
import { perform } from '../../derive/perform.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { isUtf8 } from '../../output/locale.ts'
import { isScreen } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import type { CapacityHistory } from './answers.ts'
import { plotLines } from './history/plot.ts'
import { plottable } from './history/scale.ts'

const DESCRIBED_DOMAIN = 'Domain; that of the context, else your own when absent'

const FLAGS = {
  since: {
    kind: 'text',
    value: 'TIME',
    describe: 'Only hours since then, such as 2026-01-31T08:00:00Z, or 30d for the last 30 days; 35 days are kept',
  },
  svg: { kind: 'text', value: 'FILE', describe: 'Draw it into an SVG file, - for stdout' },
} as const satisfies FlagSpecs

/** Shows how the use of a dimension developed: a plot on a terminal, a table in a pipe, a picture on request. */
export function history(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetDomainCapacityHistory')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: [
      'The largest sample of each hour, with the target that it is compared with; 35 days are kept. Times are in UTC.',
      'On a terminal a plot, elsewhere a row for each hour.',
    ].join('\n'),
    args: [{ name: 'domain', describe: DESCRIBED_DOMAIN, noun: 'domains', required: false }],
    flags: { ...derived.flags, ...FLAGS },
    uses: ['connection', 'curl', 'output'],
    examples: [
      'ctl capacity history --dimension nodes --since 30d',
      'ctl capacity history default --dimension sse_fanout --since 2026-01-31T08:00:00Z',
      'ctl capacity history --dimension nodes --svg nodes.svg',
      "ctl capacity history --dimension nodes --jq '[.points[].used_max] | max'",
    ],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode | void> {
  const { svg: path, ...flags } = given.flags
  const isForPeople = await isScreen(session)
  if (path !== undefined && !isForPeople)
    throw usageError('--svg is for people, and flags of tables and data are not: give one of them')
  const domain = await domainOf(session, given.args)
  const named = { args: [domain.text], flags }
  const isDrawn = path !== undefined || (isForPeople && session.io.stdout.isTty)
  if (session.shared.curl === true || !isDrawn) return perform(session, { operation }, named)
  const drawn = await read(session, operation, { named, name: domain.name })
  if (drawn.found.points.length === 0) return noHours(session, path)
  return path === undefined
    ? session.io.stdout.write(plotOf(session, drawn))
    : writePicture(session, String(path), drawn)
}

interface Drawn {
  readonly found: CapacityHistory
  /** What the Domain is called. */
  readonly name: string
}

async function read(
  session: Session,
  operation: ManifestOperation,
  { named, name }: { readonly named: Given; readonly name: string | undefined },
): Promise<Drawn> {
  const [target] = await targetsOf(session, { operation }, named)
  const { value } = await (await session.caller()).call(operation, target?.input ?? {})
  const found = value as CapacityHistory // What the contract says of 200.
  return { found: { ...found, points: plottable(found) }, name: name ?? target?.object?.label ?? found.domain_id }
}

interface Meant {
  /** As it may be typed. */
  readonly text: string
  /** What it is called; undefined where it was typed and is still to be looked up. */
  readonly name?: string
}

async function domainOf(session: Session, [text]: readonly string[]): Promise<Meant> {
  if (text !== undefined) return { text }
  const domain = await createResolver(session).fallback('domains', {})
  if (domain === undefined) throw usageError('<domain> is missing', 'See which there are: ctl domains list')
  return { text: domain.id, name: domain.label }
}

/** A picture that was asked for is missing then, which scripts must not miss. */
function noHours(session: Session, path: unknown): ExitCode | undefined {
  session.note('There are no hours to show yet: the first one is recorded within an hour of the first sample.')
  return path === undefined ? undefined : EXIT.negative
}

function plotOf({ io, style }: Session, { found, name }: Drawn): string {
  const { columns, rows } = io.stdout
  const lines = plotLines(found, { name: harmless(name), style, columns, rows, isUtf8: isUtf8(io.env) })
  return lines.map((line) => `${line}\n`).join('')
}

async function writePicture(session: Session, path: string, { found, name }: Drawn): Promise<void> {
  const { svg } = await import('./history/svg.ts')
  const picture = svg(found, name)
  if (path === '-') return session.io.stdout.write(picture)
  try {
    await writeFile(path, picture)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw usageError(`--svg ${path} cannot be written${code}`)
  }
  session.note(`Wrote ${path}.`)
}
