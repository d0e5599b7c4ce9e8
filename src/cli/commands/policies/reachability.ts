import type { CallInput } from '../../../client/client.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs, FlagValues } from '../../argv/flags.ts'
import { placeFlag } from '../../derive/places.ts'
import type { View } from '../../output/emit.ts'
import { isScreen } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { createResolver } from '../../session/references.ts'
import { memberOf } from '../../output/members.ts'
import { printedCurl } from '../authz/question.ts'
import type { Session } from '../../session/session.ts'
import type { Verdict } from './answers.ts'
import { domainOf } from './reading.ts'
import { becauseOf, flowText } from './sentences.ts'

const FLAGS = {
  port: { kind: 'integer', value: 'PORT', describe: 'Destination port of tcp or udp; some port when absent' },
  protocol: {
    kind: 'text',
    value: 'PROTOCOL',
    choices: ['tcp', 'udp', 'icmp'],
    describe: 'Some protocol when absent; tcp with --port',
  },
  domain: { ...placeFlag('domains'), describe: 'Domain of the nodes; that of the sender when absent' },
} as const satisfies FlagSpecs

/** Says whether one node may reach another. */
export const reach = defineCommand({
  description:
    'By the policies that are stored: what the sender lets out, and what the receiver lets in. Whether packets get there is another question: ctl nodes topology. Exits 0 for yes, 10 for no.',
  args: [
    { name: 'from', describe: 'Sending node', noun: 'nodes', required: true },
    { name: 'to', describe: 'Receiving node', noun: 'nodes', required: true },
  ],
  flags: FLAGS,
  uses: ['connection', 'curl', 'output', 'watch'],
  examples: ['ctl policies reach web-1 db-1 --port 5432', 'ctl policies reach web-1 db-1 --protocol icmp -o json'],
  async run(session, { args, flags }) {
    const { input, names } = await questionOf(session, args, flags)
    const operation = session.operation('CheckReachability')
    if (await printedCurl(session, operation, input)) return EXIT.ok
    const verdict = (await (await session.caller()).call(operation, input)).value as Verdict // What the contract says of 200.
    if (await isScreen(session)) print(session, verdict, names)
    else await session.emit(verdict, VIEW)
    return verdict.allowed ? EXIT.ok : EXIT.negative
  },
})

const VIEW: View = { columns: ['allowed', 'from', 'to', 'protocol', 'port'], isWhole: true }

interface Question {
  readonly input: CallInput
  readonly names: readonly [from: string, to: string]
}

async function questionOf(
  session: Session,
  [from, to]: readonly string[],
  { port, protocol }: FlagValues<typeof FLAGS>,
): Promise<Question> {
  if (from === undefined || to === undefined) throw usageError('two nodes are needed: the sender and the receiver')
  const resolver = createResolver(session)
  const sender = await resolver.object('nodes', from, {})
  const receiver = await resolver.object('nodes', to, {})
  const own = memberOf(sender.row, 'domain_id')
  const id = typeof own === 'string' ? own : await domainOf(session)
  const input = { id, from: sender.id, to: receiver.id, ...flowOf(port, protocol) }
  return { input, names: [sender.label, receiver.label] }
}

/** A port alone is one of TCP. */
function flowOf(port: number | undefined, protocol: string | undefined): object {
  if (port === undefined) return protocol === undefined ? {} : { protocol }
  return { protocol: protocol ?? 'tcp', port: String(port) }
}

/** A sentence for yes or no, and one for each end. */
function print({ io, style }: Session, verdict: Verdict, [from, to]: readonly [string, string]): void {
  const { allowed, egress, ingress } = verdict
  const answer = allowed ? style.good('yes:') : style.bad('no:')
  const sentence = `${from} ${allowed ? 'may reach' : 'may not reach'} ${to} with ${flowText(verdict)}`
  const lines = [
    `${answer} ${harmless(sentence)}`,
    harmless(`  ${from} ${egress.allowed ? 'lets it out' : 'keeps it in'}: ${becauseOf(egress)}`),
    harmless(`  ${to} ${ingress.allowed ? 'lets it in' : 'keeps it out'}: ${becauseOf(ingress)}`),
  ]
  io.stdout.write(lines.map((line) => `${line}\n`).join(''))
}
