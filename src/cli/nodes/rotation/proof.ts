import { ProblemAnswer } from '../../../client/failures.ts'
import type { mesh } from '../../../shared/contract/mesh.ts'
import type { Result } from '../../../shared/contract/operation.ts'
import { createProgress } from '../../progress.ts'
import type { Session } from '../../session.ts'
import type { FleetNode } from '../fleet-node.ts'
import { jittered } from '../polling.ts'

type Verified = Result<(typeof mesh)['operations']['VerifyDomainEdgeEpochs']>

/** What nodes report of the epochs of their edges, compared with the keys that the server holds. */
export interface Proof extends Verified {
  /** Ctrl-C ended it before all had agreed. */
  readonly isInterrupted: boolean
}

export interface ProofRules {
  /** How long agents have to report. */
  readonly timeoutMs: number
  /** Nodes whose disagreement says nothing: they were skipped. */
  readonly exceptIds: ReadonlySet<string>
}

/** Nodes of one comparison at most, as the operation has it. */
const GROUP_MAX = 1000
const POLL_MS = 2000

/** One comparison: some nodes of a Domain, or all of them. */
interface Question {
  readonly domain_id: string
  readonly body: { readonly node_ids?: readonly string[] }
}

/**
 * Compares until every node agrees or the time is over: every node of each Domain that has no more than 1,000, else the given
 * ones. Agents report what they hold within seconds, so the first answers may be early. A node of `exceptIds` may disagree.
 */
export async function prove(
  session: Session,
  nodes: readonly FleetNode[],
  { timeoutMs, exceptIds }: ProofRules,
): Promise<Proof> {
  const { io } = session
  const answers = new Map<Question, Verified>()
  const proof = (): Verified => summed([...answers.values()], exceptIds)
  try {
    const questions = await questionsOf(session, nodes)
    await compare(session, { questions, answers, untilMs: io.nowMs() + timeoutMs, proof })
  } catch (error) {
    if (!io.interrupted.aborted) throw error
  }
  return { ...proof(), isInterrupted: io.interrupted.aborted }
}

interface Comparing {
  readonly questions: readonly Question[]
  readonly answers: Map<Question, Verified>
  readonly untilMs: number
  readonly proof: () => Verified
}

async function compare(session: Session, { questions, answers, untilMs, proof }: Comparing): Promise<void> {
  const { io } = session
  const progress = createProgress(session, 'nodes that agree')
  while (!io.interrupted.aborted) {
    const open = questions.filter((question) => answers.get(question)?.disagreeing.length !== 0)
    for (const question of open) answers.set(question, await ask(session, question))
    const { agreeing, nodes_checked, disagreeing } = proof()
    progress.at(agreeing, `${nodes_checked} checked`)
    if (disagreeing.length === 0 || io.nowMs() >= untilMs) break
    await io.sleep(Math.min(jittered(POLL_MS), Math.max(1, untilMs - io.nowMs())))
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

function summed(answers: readonly Verified[], exceptIds: ReadonlySet<string>): Verified {
  const sum = (member: 'nodes_checked' | 'edges_checked' | 'agreeing'): number =>
    answers.reduce((total, answer) => total + answer[member], 0)
  return {
    nodes_checked: sum('nodes_checked'),
    edges_checked: sum('edges_checked'),
    agreeing: sum('agreeing'),
    disagreeing: answers.flatMap(({ disagreeing }) => disagreeing.filter(({ node_id }) => !exceptIds.has(node_id))),
  }
}
