import { harmless } from '../../output/style.ts'
import type { ExplainedCheck, ProposedTuple } from './explanation.ts'
import { explanationLines, missingFields, type Drawing } from './explanation-lines.ts'
import { grantingCommand, leastFirst, projectsIn } from './grant-commands.ts'
import type { Naming } from './naming.ts'
import type { Triple } from './triple.ts'

/** An explained check with what was asked and how it is shown. */
export interface Report extends ExplainedCheck {
  readonly asked: Triple
  readonly drawing: Drawing
  /** Names as commands may type them. */
  readonly commands: Naming
}

/** The answer in one sentence, the tree, and what would change it. */
export function reportLines(report: Report): readonly string[] {
  const { tree, drawing } = report
  return [
    sentence(report),
    '',
    ...explanationLines(tree, drawing),
    ...spaced(missingLines(report)),
    ...spaced(remedyLines(report)),
  ]
}

function spaced(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', ...lines]
}

function sentence({ decision, tree, asked, drawing: { naming, style } }: Report): string {
  const what = `${asked.relation} on ${naming.shown(asked.resource)}`
  const who = naming.shown(asked.subject)
  if (decision === 'allowed') return `${style.good('allowed')}: ${harmless(`${who} has ${what}`)}`
  if (tree.outcome === 'conditional')
    return `${style.bad('denied')}: ${harmless(`${who} has ${what} only under a caveat that is undecided`)}`
  return `${style.bad('denied')}: ${harmless(`${who} lacks ${what}`)}`
}

/** What a caveat lacked: facts that were not named, and named ones that the server does not know. */
function missingLines({ tree, decision, asked }: Report): readonly string[] {
  if (decision === 'allowed') return []
  const named = Object.keys(asked.caveat_context ?? {})
  const missing = [...missingFields(tree)].flatMap(([caveat, fields]) =>
    [...fields].map((field) => ({ caveat, field })),
  )
  const unnamed = missing.filter(({ field }) => !named.includes(field))
  const facts = [...new Set([...named, ...unnamed.map(({ field }) => field)])].join(',')
  const unknown = new Set(missing.filter(({ field }) => named.includes(field)).map(({ field }) => field))
  return [
    ...unnamed.map(({ caveat, field }) => harmless(`The caveat ${caveat} may not use ${field}, which was not named.`)),
    ...[...unknown].map((field) => harmless(`The server knows no ${field} of this subject or its Domain.`)),
    ...(unnamed.length > 0 ? [harmless(`Let it use what the server knows: --facts ${facts}`)] : []),
  ]
}

/** The sets of tuples that would allow it, as commands; those that no command writes in words. */
function remedyLines({ remedies, tree, commands }: Report): readonly string[] {
  const projects = projectsIn(tree)
  const deps = { naming: commands, projectOf: (object: string) => projects.get(object) }
  const ways = leastFirst(remedies).map((tuples) =>
    tuples.map((tuple) => grantingCommand(tuple, deps) ?? inWords(tuple, commands)).map(harmless),
  )
  if (ways.length === 0) return []
  const title = ways.length === 1 ? 'This would allow it:' : 'Any one of these would allow it:'
  return [title, ...ways.map((steps) => `  ${steps.join(' && ')}`)]
}

function inWords({ subject, relation, resource }: ProposedTuple, naming: Naming): string {
  return `${naming.shown(subject)} as ${relation} of ${naming.shown(resource)}`
}
