import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { isRow, memberOf } from '../../output/members.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'

const FLAGS: FlagSpecs = {
  label: { kind: 'many', value: 'KEY=VALUE', describe: 'Set a label, and keep the others' },
  'remove-label': { kind: 'many', value: 'KEY', describe: 'Take a label away' },
  'no-project': { kind: 'switch', describe: 'Take the node out of its Project' },
}

/** The derived command, which also changes single labels and takes a node out of its Project. */
export function update(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PatchNode')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: [
      derived.description,
      '--label and --remove-label read all labels of the node and write all of them back: a change of labels by somebody else in between is lost.',
    ].join('\n'),
    flags: { ...derived.flags, ...FLAGS },
    examples: [
      'ctl nodes update web-1 --name web-2',
      'ctl nodes update web-1 --project web',
      'ctl nodes update web-1 --label tier=edge --remove-label zone',
    ],
    run: async (session, given) => perform(session, { operation }, await plain(session, given)),
  }
}

/** What was typed in the members of the operation. */
async function plain(session: Session, { args, flags }: Given): Promise<Given> {
  const { label, 'remove-label': removed, 'no-project': isFree, ...others } = flags
  if (isFree === true && others['project'] !== undefined) throw usageError('give either --project or --no-project')
  const given = { args, flags: { ...others, ...(isFree === true && { project: false }) } }
  const change = { set: wordsOf(label).map(pairOf), gone: wordsOf(removed) }
  return change.set.length + change.gone.length === 0 ? given : withLabels(session, given, change)
}

interface LabelChange {
  readonly set: readonly (readonly [key: string, value: string])[]
  readonly gone: readonly string[]
}

/** The labels that the node has, with the change in them: the operation takes all of them. */
async function withLabels(session: Session, { args, flags }: Given, { set, gone }: LabelChange): Promise<Given> {
  if (flags['labels'] !== undefined) throw usageError('give either --labels or single ones')
  const [text, ...more] = args
  if (text === undefined || more.length > 0)
    throw usageError('single labels are changed on one node at a time', 'Give all labels with --labels KEY=VALUE,…')
  const { id, labels } = await labelsNow(session, text)
  for (const key of gone) if (!labels.delete(key)) session.note(`${text} has no label "${key}".`)
  for (const [key, value] of set) labels.set(key, value)
  return { args: [id], flags: { ...flags, labels: [...labels].map((pair) => pair.join('=')) } }
}

function pairOf(text: string): readonly [key: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) throw usageError(`--label needs KEY=VALUE, not "${text}"`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function wordsOf(value: Given['flags'][string]): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

async function labelsNow(
  session: Session,
  text: string,
): Promise<{ readonly id: string; readonly labels: Map<string, string> }> {
  const { id } = await createResolver(session).object('nodes', text, {})
  const { value } = await (await session.caller()).call(session.operation('GetNode'), { id })
  const labels = memberOf(value, 'labels')
  const pairs = isRow(labels) ? Object.entries(labels) : []
  return { id, labels: new Map(pairs.map(([key, one]) => [key, String(one)])) }
}
