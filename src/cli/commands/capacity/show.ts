import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Row } from '../../output/members.ts'
import { isScreen, isText } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { gaugeLines } from './gauges.ts'
import { OPTIONAL_DOMAINS, placesOf, readSamples, reportUnread, type Sampled, type Samples } from './reading.ts'

/** Shows what Domains use of their capacity: gauges on a terminal, a table in a pipe. */
export function show(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetDomainCapacity')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: [
      'Without DOMAIN: the Domain of the context, else every Domain that you may read.',
      'A sample is taken every 15 seconds by default. OVER: the use reached 80 % of the target and has not fallen below 75 % since. ENFORCED: calls beyond the target are refused.',
      'Exit 0: nothing is over its threshold. Exit 10: something is.',
    ].join('\n'),
    args: OPTIONAL_DOMAINS,
    examples: [
      'ctl capacity show',
      'ctl capacity show default',
      "ctl capacity show default --jq '.dimensions[] | select(.over_threshold) | .dimension'",
      'ctl capacity show --sort -ratio',
    ],
    async run(session, given) {
      const places = await placesOf(session, given.args)
      if (session.shared.curl === true) {
        const { perform } = await import('../../derive/perform.ts')
        return perform(session, { operation }, { args: places.places.map(({ id }) => id), flags: given.flags })
      }
      if (places.places.length === 0) session.note('There is no Domain that you may read.')
      session.expectOutput()
      const samples = await readSamples(session, places)
      await print(session, samples.sampled, { isList: places.isListed || places.places.length > 1 })
      const failed = await reportUnread(session, samples, operation.cli?.command ?? '')
      return isOver(session, samples) ? EXIT.negative : failed
    },
  }
}

async function print(
  session: Session,
  sampled: readonly Sampled[],
  { isList }: { readonly isList: boolean },
): Promise<void> {
  const { io } = session
  if (io.stdout.isTty && (await isScreen(session))) return io.stdout.write(screenOf(session, sampled))
  const isAppended = session.shared.watch !== undefined && !io.stdout.isTty && session.shared.output === undefined
  if ((await isText(session)) && !isAppended) {
    const columns = isList ? ['domain', ...COLUMNS] : COLUMNS
    return session.emit(sampled.flatMap(rowsOf), { columns })
  }
  const answers = sampled.map(({ capacity }) => capacity)
  await session.emit(isList ? answers : answers[0], { columns: [] })
}

const COLUMNS = ['dimension', 'used', 'target', 'ratio', 'unit', 'enforced', 'over_threshold', 'days_until_full']

function rowsOf({ name, capacity }: Sampled): readonly Row[] {
  return capacity.dimensions.map((use) => ({ domain: name, ...use }))
}

/** The gauges of Domains, one below the other. */
export function screenOf({ io, style }: Session, sampled: readonly Sampled[]): string {
  const canvas = { style, columns: io.stdout.columns, nowMs: io.nowMs() }
  return sampled.map(({ name, capacity }) => `${gaugeLines(name, capacity, canvas).join('\n')}\n`).join('\n')
}

/** Whether anything is over its threshold. Says what, unless it is said again and again. */
function isOver(session: Session, { sampled }: Samples): boolean {
  const over = sampled.flatMap(({ name, capacity: { dimensions } }) => {
    const names = dimensions.filter((one) => one.over_threshold).map(({ dimension }) => dimension)
    return names.length === 0 ? [] : [`${name}: ${names.join(', ')}`]
  })
  if (over.length > 0 && session.shared.watch === undefined)
    session.note(harmless(`Over the threshold in Domain ${over.join('; ')}`))
  return over.length > 0
}
