import type { EnrolledState } from '../../agent/agent-core.ts'
import { enrolledState, isEnrolled, openPlace, requireLinux } from '../../agent/enrolled-state.ts'
import { installService, type Installed } from '../../agent/install/install-service.ts'
import { linuxSystem } from '../../agent/install/install-system.ts'
import type { Place } from '../../agent/place.ts'
import { lockOwner, takeLock } from '../../agent/process/process-lock.ts'
import { readState } from '../../agent/state/state-file.ts'
import { requireRoot } from '../../agent/system/privileges.ts'
import { runProgram } from '../../agent/system/run-program.ts'
import { defineCommand } from '../../argv/command.ts'
import type { Session } from '../../session/session.ts'
import { UP_FLAGS, type UpFlags } from './flags.ts'
import { placeIn } from './place-in.ts'

export const install = defineCommand({
  description: [
    'Copies the program of the agent to /usr/local/lib/ctl-mesh, where neither npm nor the end of its cache changes it, and writes /etc/systemd/system/ctl-agent.service. Where systemd runs, the service is enabled and started; an agent that runs in the background ends first, and its tunnels stay up. A state folder named ctl-agent-NAME gets a unit of that name.',
    'The machine is enrolled before, with "ctl agent up", or now, with --server and --join-token-file. Run it again after an upgrade of the package. Needs root, and a Node that only root can change.',
  ].join('\n'),
  flags: UP_FLAGS,
  examples: [
    'ctl agent install',
    'ctl agent install --server https://ctl.example.org --join-token-file ./token',
    'ctl agent install --state-dir /var/lib/ctl-agent-lab',
  ],
  async run(session, { flags }) {
    requireLinux()
    requireRoot('Installing a service')
    const place = placeIn(session, flags)
    const installed = await installService({
      system: linuxSystem(runProgram),
      place,
      version: session.version,
      enrolled: () => enrolled(session, flags, place),
    })
    report(session, installed)
  },
})

/** A running agent keeps its settings; without one they are taken as "ctl agent up" does. */
async function enrolled(session: Session, flags: UpFlags, place: Place): Promise<EnrolledState> {
  await openPlace(place)
  const hasSettings = Object.keys(flags).some((flag) => flag !== 'state-dir')
  if (!hasSettings && (await lockOwner(place.lock)) !== undefined) {
    const state = await readState(place.state)
    if (isEnrolled(state)) return state
  }
  const lock = await takeLock(place.lock)
  try {
    return await enrolledState(session, flags, place)
  } finally {
    await lock.release()
  }
}

function report(session: Session, { unit, path, isChanged, pid, isSystemdRunning }: Installed): void {
  if (isChanged) session.note(`Wrote ${path}.`)
  if (!isSystemdRunning)
    return session.note(
      `systemd does not run here, so nothing was started. Where it does: systemctl enable --now ${unit}. Without it: ctl agent up`,
    )
  if (pid === undefined) return session.warn(`${unit} does not run: journalctl -u ${unit}, or "ctl agent doctor"`)
  return session.note(
    `${unit} ${isChanged ? 'is installed and runs' : 'was installed so already and runs'}, as process ${pid}. "ctl agent status" shows it.`,
  )
}
