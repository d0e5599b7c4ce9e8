import { ProblemAnswer } from '../../../client/failures.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { memberOf } from '../../output/members.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { readBundle } from '../clouds/reading.ts'

/** How often a new bundle is looked at, and after how many ms. */
const LOOKS_MAX = 50
const LOOK_MS = 100

/**
 * The derived command, which also waits until its caller may read the new bundle: its grants follow a moment later (S1 Provider
 * bundles 1), and the next line of a script names it.
 */
export function create(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'CreateProviderBundle')
  return {
    ...derivedCommand(operation, manifest),
    description: 'Waits up to 5 s until you may read the bundle, since its grants follow a moment later.',
    examples: [
      'ctl bundles create hetzner-base --provider hetzner --package oci://registry.example.com/provider-hetzner@v1.4 --config-api-version v1beta1',
    ],
    run: (session, given) =>
      perform(session, { operation, settled: (value) => waitUntilReadable(session, value) }, given),
  }
}

async function waitUntilReadable(session: Session, created: unknown): Promise<void> {
  const id = String(memberOf(created, 'id'))
  for (let look = 1; !(await isReadable(session, id)); look += 1) {
    if (session.io.interrupted.aborted || look === LOOKS_MAX) {
      session.warn('you may not read the bundle yet, and lists leave it out: its grants are still to be written')
      return
    }
    await session.io.sleep(LOOK_MS)
  }
}

/** A failure other than the refusal is the next command's to report: the bundle is created. */
async function isReadable(session: Session, id: string): Promise<boolean> {
  try {
    await readBundle(session, id)
    return true
  } catch (error) {
    return !(error instanceof ProblemAnswer && error.status === 403)
  }
}
