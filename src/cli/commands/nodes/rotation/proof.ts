import { ProblemAnswer } from '../../../../client/failures.ts'
import type { mesh } from '../../../../shared/contract/mesh.ts'
import type { Result } from '../../../../shared/contract/operation-types.ts'
import { createProgress } from '../../../output/progress.ts'
import type { Session } from '../../../session/session.ts'
import type { FleetNode } from '../fleet-node.ts'
import { jittered } from '../polling.ts'

type Verified = Result<(typeof mesh)['operations']['VerifyDomainEdgeEpochs']>

/** What nodes report of the epochs of their edges, compared with the keys that the server holds. */
export interface Proof extends Verified {
  /** Ctrl-C ended it before all had agreed. */
  readonly isInterrupted: boolean
  /** Nodes that disagree and were not part of the run. Their agents may not have pulled the new keys yet, or may be off. */
  readonly othersDisagreeing: Verified['disagreeing']
}

export interface ProofRules {
  /** How long agents have to report. */
  readonly timeoutMs: number
  /** Nodes that the proof is about. */
  readonly provenIds: ReadonlySet<string>
}

/** Nodes of one comparison at most, as the operation has it. */
const GROUP_MAX = 1000
const POLL_MS = 2000
/** How long nodes outside the run get once those of the run agree. */
const OTHERS_MS = 10_000

/** One comparison: some nodes of a Domain, or all of them. */
interface Question {
  readonly domain_id: string
  readonly body: { readonly node_ids?: readonly string[] }
}

/**
 * Compares until every node of `provenIds` agrees or the time is over. Every node of a Domain of up to 1,000 is compared, else
 * the given ones: nodes outside the run are edges' other ends, and get some seconds more. Agents report within seconds.
 */
export async function prove(
  session: Session,
  nodes: readonly FleetNode[],
  { timeoutMs, provenIds }: ProofRules,
): Promise<Proof> {
  const { io } = session
  const answers = new Map<Question, Verified>()
  const proof = (): Compared => summed([...answers.values()], provenIds)
  try {
    const questions = await questionsOf(session, nodes)
    await compare(session, { questions, answers, untilMs: io.nowMs() + timeoutMs, proof })
  } catch (error) {
    if (!io.interrupted.aborted) throw error
  }
  return { ...proof(), isInterrupted: io.interrupted.aborted }
}

type Compared = Omit<Proof, 'isInterrupted'>

interface Comparing {
  readonly questions: readonly Question[]
  readonly answers: Map<Question, Verified>
  readonly untilMs: number
  readonly proof: () => Compared
}

async function compare(session: Session, { questions, answers, untilMs, proof }: Comparing): Promise<void> {
  const { io } = session
  const progress = createProgress(session, 'nodes that agree')
  let endMs = untilMs
  while (!io.interrupted.aborted) {
    const open = questions.filter((question) => answers.get(question)?.disagreeing.length !== 0)
    for (const question of open) answers.set(question, await ask(session, question))
    const { agreeing, nodes_checked, disagreeing, othersDisagreeing } = proof()
    progress.at(agreeing, `${nodes_checked} checked`)
    if (disagreeing.length === 0) endMs = Math.min(endMs, io.nowMs() + OTHERS_MS)
    if (disagreeing.length + othersDisagreeing.length === 0 || io.nowMs() >= endMs) break
    await io.sleep(Math.min(jittered(POLL_MS), Math.max(1, endMs - io.nowMs())))
  }
  progress.end()
}

/** Whether a Domain is small enough for all of its nodes is the server's to say. */
async function questionsOf(session: Session, nodes: readonly FleetNode[]): Promise<readonly Question[]> {
  const questions: Question[] = []
  for (const domain_id of new Set(nodes.map((node) => node.domain_id))) {
    const whole = { domain_id, body: {} }
    if (await isAnswered(session, whole)) {
      questions.push(whole)
      continue
    }
    const ids = nodes.flatMap((node) => (node.domain_id === domain_id ? [node.id] : []))
    for (let from = 0; from < ids.length; from += GROUP_MAX)
      questions.push({ domain_id, body: { node_ids: ids.slice(from, from + GROUP_MAX) } })
  }
  return questions
}

async function isAnswered(session: Session, question: Question): Promise<boolean> {
  try {
    await ask(session, question)
    return true
  } catch (error) {
    if (error instanceof ProblemAnswer && error.code === 'epoch_filter_required') return false
    throw error
  }
}

async function ask(session: Session, question: Question): Promise<Verified> {
  const caller = await session.caller()
  const { value } = await caller.call(session.operation('VerifyDomainEdgeEpochs'), { ...question })
  return value as Verified // What the contract says of 200.
}

function summed(answers: readonly Verified[], provenIds: ReadonlySet<string>): Compared {
  const sum = (member: 'nodes_checked' | 'edges_checked' | 'agreeing'): number =>
    answers.reduce((total, answer) => total + answer[member], 0)
  const all = answers.flatMap(({ disagreeing }) => disagreeing)
  return {
    nodes_checked: sum('nodes_checked'),
    edges_checked: sum('edges_checked'),
    agreeing: sum('agreeing'),
    disagreeing: all.filter(({ node_id }) => provenIds.has(node_id)),
    othersDisagreeing: all.filter(({ node_id }) => !provenIds.has(node_id)),
  }
}
