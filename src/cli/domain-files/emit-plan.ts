import { isScreen } from '../output/screen.ts'
import type { Session } from '../session/session.ts'
import { planLines } from './plan/plan-lines.ts'
import type { Plan } from './plan/plan.ts'

/** Writes a plan to stdout: as lines for people, with the Domain and server first; as it is in the formats for programs. */
export async function emitPlan(
  session: Session,
  { plan, target }: { readonly plan: Plan; readonly target: string },
): Promise<void> {
  if (await isScreen(session))
    session.io.stdout.write(`${[`${target}:`, ...planLines(plan, session.style)].join('\n')}\n`)
  else await session.emit(plan, { columns: [] })
}
