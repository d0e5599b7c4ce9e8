import type { Examination } from './examine.ts'
import type { Judgement } from './mutants.ts'
import type { Query, World } from './world.ts'

interface Answers {
  asked: number
  yes: number
  no: number
  conditional: number
  failed: number
}

/** What a campaign has asked and been answered, SpiceDB's answers counting. */
export interface Tally {
  schemas: number
  /** Schemas or tuples that both engines refuse. */
  refused: number
  tuples: number
  disagreed: number
  /** Schemas with a piece changed, judged by both engines, and those of them that SpiceDB takes. */
  mutants: number
  mutantsTaken: number
  /** Tuples with a part changed, tried on both engines. */
  misfits: number
  /** By kind of question. A lookup is `yes` when it finds something that is certain, else `conditional` when it finds something. */
  readonly answers: Readonly<Record<Query['kind'], Answers>>
  /** By the name of the exclusion. */
  readonly excluded: Map<string, number>
}

export function newTally(): Tally {
  const none = (): Answers => ({ asked: 0, yes: 0, no: 0, conditional: 0, failed: 0 })
  const answers = { check: none(), resources: none(), subjects: none() }
  return {
    schemas: 0,
    refused: 0,
    tuples: 0,
    disagreed: 0,
    mutants: 0,
    mutantsTaken: 0,
    misfits: 0,
    answers,
    excluded: new Map(),
  }
}

export function addExamination(tally: Tally, world: World, { outcome, pairs, excluded }: Examination): void {
  tally.schemas++
  tally.tuples += world.tuples.length
  if (outcome === 'refused') tally.refused++
  for (const { query, theirs } of pairs) {
    const answers = tally.answers[query.kind]
    answers.asked++
    answers[query.kind === 'check' ? checkClass(theirs) : lookupClass(theirs)]++
  }
  addExcluded(tally, excluded)
}

export function addJudgement(tally: Tally, { judged, taken, excluded }: Judgement): void {
  tally.mutants += judged
  tally.mutantsTaken += taken
  addExcluded(tally, excluded)
}

function addExcluded(tally: Tally, excluded: ReadonlyMap<string, number>): void {
  for (const [name, count] of excluded) tally.excluded.set(name, (tally.excluded.get(name) ?? 0) + count)
}

function checkClass(answer: string): keyof Omit<Answers, 'asked'> {
  return answer === 'yes' || answer === 'no' || answer === 'conditional' ? answer : 'failed'
}

function lookupClass(answer: string): keyof Omit<Answers, 'asked'> {
  if (answer.startsWith('error: ')) return 'failed'
  if (answer === '') return 'no'
  return answer.split(' ').every((each) => /\?(-|$)/.test(each)) ? 'conditional' : 'yes'
}

/** Lines for people. */
export function tallyLines(tally: Tally): string[] {
  const { schemas, refused, tuples, disagreed, answers, excluded } = tally
  const share = (part: number, whole: number): string =>
    `${whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10} %`
  const line = (name: string, { asked, yes, no, conditional, failed }: Answers): string =>
    `${name}: ${asked} (yes ${share(yes, asked)}, no ${share(no, asked)}, conditional ${share(conditional, asked)}, failed ${share(failed, asked)})`
  return [
    `schemas: ${schemas} (${refused} refused by both), tuples: ${tuples}`,
    line('checks', answers.check),
    line('lookups of resources', answers.resources),
    line('lookups of subjects', answers.subjects),
    `changed schemas: ${tally.mutants} (taken ${share(tally.mutantsTaken, tally.mutants)}), changed tuples: ${tally.misfits}`,
    ...[...excluded].map(([name, count]) => `left out, ${name}: ${count}`),
    `disagreements: ${disagreed}`,
  ]
}
