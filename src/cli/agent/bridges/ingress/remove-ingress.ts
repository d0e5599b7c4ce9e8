import { rm } from 'node:fs/promises'
import { endProgram } from '../../system/background-program.ts'
import { caddySign, haproxySign, type IngressPlace } from './ingress-place.ts'

/** Ends the programs that an earlier agent has left, and removes their files. The certificates stay. */
export async function removeIngress(place: IngressPlace): Promise<void> {
  await endProgram(haproxySign(place))
  await endProgram(caddySign(place))
  await rm(place.folder, { recursive: true, force: true })
}
