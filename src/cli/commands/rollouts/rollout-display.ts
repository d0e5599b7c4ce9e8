import { usageError } from '../../errors/cli-error.ts'
import { createInPlace } from '../../output/in-place.ts'
import { isScreen, isText } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import type { Rollout } from './answers.ts'
import { rolloutLines, statusText, totalsOf, totalsText } from './picture.ts'

/** Shows the looks at a rollout, one after the other. */
export interface RolloutDisplay {
  show(rollout: Rollout): Promise<void>
}

/**
 * Redraws a picture on a terminal. Elsewhere writes what has changed: a line of text, or of JSON with -o json or jsonl. Throws a
 * usage error for flags that ask for a table.
 */
export async function createRolloutDisplay(session: Session): Promise<RolloutDisplay> {
  await session.assertEmittable({ view: { columns: [], isWhole: true }, isList: false })
  const { stdout } = session.io
  if (await isText(session)) {
    if (!(await isScreen(session)))
      throw usageError('a rollout that is watched is no table', 'Choose members of it with -o jsonl --jq EXPR.')
    return stdout.isTty ? onTerminal(session) : asLines(session)
  }
  const { output } = await session.settings()
  const format = output.value === 'json' ? 'jsonl' : output.value
  return onChange(async (rollout) => {
    const { emit } = await import('../../output/emit.ts')
    const { io, shared, style } = session
    const view = { columns: [], isWhole: true }
    await emit(rollout, view, { io, format, shared, style, note: (line) => session.note(line) })
  })
}

function onTerminal({ io, style }: Session): RolloutDisplay {
  const picture = createInPlace(io.stdout)
  return {
    async show(rollout) {
      picture.draw(rolloutLines(rollout, { style, columns: io.stdout.columns, nowMs: io.nowMs() }))
    },
  }
}

function asLines({ io }: Session): RolloutDisplay {
  return onChange(async (rollout) => {
    const reason = rollout.halted_reason === null ? '' : ` (${rollout.halted_reason.replace(/\.$/, '')})`
    const progress = rollout.started_at === null ? '' : `: ${totalsText(totalsOf(rollout))}`
    const at = new Date(io.nowMs()).toISOString()
    io.stdout.write(`${at} ${harmless(`${rollout.slug} ${statusText(rollout)}${reason}${progress}`)}\n`)
  })
}

/** Shows a look that differs from the one before. */
function onChange(show: (rollout: Rollout) => Promise<void>): RolloutDisplay {
  let shown: string | undefined
  return {
    async show(rollout) {
      const text = JSON.stringify(rollout)
      if (text === shown) return
      shown = text
      await show(rollout)
    },
  }
}
