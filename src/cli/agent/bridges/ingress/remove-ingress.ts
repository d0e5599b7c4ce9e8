import { rm } from 'node:fs/promises'
import { endPrograms } from './background-program.ts'
import type { IngressPlace } from './ingress-place.ts'

/** Ends the programs that an earlier agent has left, and removes their files. The certificates stay. */
export async function removeIngress({ folder, haproxyConfig, caddyConfig }: IngressPlace): Promise<void> {
  await endPrograms({ program: 'haproxy', argument: haproxyConfig })
  await endPrograms({ program: 'caddy', argument: caddyConfig })
  await rm(folder, { recursive: true, force: true })
}
