import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { asSelectorError, selectorError, syntaxFaults } from '../../errors/selector-errors.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { SELECTOR, selectorFlag, selectorText } from '../../argv/selector.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { targetsOf } from '../../derive/input.ts'
import { perform } from '../../derive/perform.ts'
import { counted } from '../../output/counts.ts'
import { assertOnePicture } from '../../output/one-picture.ts'
import { isScreen } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { nameOf, type Graph } from './graph/groups.ts'
import { svg } from './graph/svg.ts'

const FLAGS = {
  format: {
    kind: 'text',
    value: 'FORMAT',
    choices: ['text', 'dot', 'mermaid', 'svg'],
    describe: 'Lines, or a picture: for Graphviz, for Mermaid, or as a file for browsers',
    fallback: 'text',
  },
} as const satisfies FlagSpecs

/** Shows which groups of nodes may reach which. */
export function graph(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetPolicyGraph')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description:
      'Nodes are in one group when no policy tells them apart; a group goes by the policies that match it. -o json has every group with its nodes.',
    flags: { ...derived.flags, [SELECTOR]: selectorFlag('nodes'), ...FLAGS },
    examples: [
      'ctl policies graph',
      "ctl policies graph -l 'env=prod' --format svg > reach.svg",
      'ctl policies graph --format dot | dot -Tpdf > reach.pdf',
    ],
    async run(session, given) {
      const { [SELECTOR]: typed } = given.flags
      if (typed === undefined) return run(session, operation, given)
      const text = await selectorText(typed, createResolver(session))
      const faults = await syntaxFaults(text)
      if (faults.length > 0) throw selectorError(text, faults, EXIT.usage)
      return run(session, operation, given).catch((error: unknown) => {
        throw asSelectorError(error, text)
      })
    },
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode | void> {
  const { format: asked, ...flags } = given.flags
  const format = String(asked ?? 'text')
  const isData = !(await isScreen(session))
  if (isData && asked !== undefined)
    throw usageError('--format is for people, and flags of tables and data are not: give one of them')
  if (isData || session.shared.curl === true) return perform(session, { operation }, { ...given, flags })
  assertOnePicture(session, format)
  const [target] = await targetsOf(session, { operation }, { ...given, flags })
  const { value } = await (await session.caller()).call(operation, target?.input ?? {})
  draw(session, format, value as Graph) // What the contract says of 200.
}

function draw(session: Session, format: string, found: Graph): void {
  session.io.stdout.write(WRITERS[format]?.(found) ?? '')
  if (found.groups.length === 0) session.note('There are no such nodes.')
  if (found.omitted_groups > 0) session.warn(`${counted(found.omitted_groups, 'smaller group')} left out`)
}

function lines({ groups, edges }: Graph): readonly string[] {
  return groups.flatMap((group) => {
    const to = edges.filter(({ from }) => from === group.group)
    const reached = to.map((edge) => {
      const other = groups.find((one) => one.group === edge.to)
      return `  → ${other === undefined ? '' : nameOf(other)}: ${harmless(edge.flows.join(', '))}`
    })
    return [nameOf(group), ...(reached.length === 0 ? ['  reaches nothing'] : reached)]
  })
}

function dot({ groups, edges }: Graph): readonly string[] {
  const text = (label: string): string => `"${harmless(label).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  return [
    'digraph policies {',
    '  node [shape=box, style=rounded, fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
    ...groups.map((one) => `  g${one.group} [label=${text(nameOf(one))}];`),
    ...edges.map(({ from, to, flows }) => `  g${from} -> g${to} [label=${text(flows.join(', '))}];`),
    '}',
  ]
}

function mermaid({ groups, edges }: Graph): readonly string[] {
  const text = (label: string): string =>
    harmless(label).replaceAll(/["#&<>;`\\]/g, (character) => `#${character.charCodeAt(0)};`)
  return [
    'flowchart LR',
    ...groups.map((one) => `  g${one.group}["${text(nameOf(one))}"]`),
    ...edges.map(({ from, to, flows }) => `  g${from} -- "${text(flows.join(', '))}" --> g${to}`),
  ]
}

function inLines(shown: readonly string[]): string {
  return shown.map((line) => `${line}\n`).join('')
}

const WRITERS: Readonly<Record<string, (found: Graph) => string>> = {
  text: (found) => inLines(lines(found)),
  dot: (found) => inLines(dot(found)),
  mermaid: (found) => inLines(mermaid(found)),
  svg,
}
