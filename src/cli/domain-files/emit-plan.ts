import { isScreen } from '../output/screen.ts'
import type { Session } from '../session/session.ts'
import { planLines } from './plan/plan-lines.ts'
import type { Plan } from './plan/plan.ts'

/** Writes a plan to stdout: as lines for people, as it is in the formats for programs. */
export async function emitPlan(session: Session, plan: Plan): Promise<void> {
  if (await isScreen(session)) session.io.stdout.write(`${planLines(plan, session.style).join('\n')}\n`)
  else await session.emit(plan, { columns: [] })
}
