import { harmless } from '../../../output/style.ts'
import type { BridgePicture, Side } from './picture.ts'

const ARROWS: Readonly<Record<Side['flow'], string>> = { bidirectional: '↔', ingress_only: '←', egress_only: '→' }

/** Bridges as lines: `↔ hq: wireguard vpn.example.org:51820, 10.20.0.0/16`. */
export function lines(pictures: readonly BridgePicture[]): string {
  return pictures
    .flatMap(({ bridge, sides, entrances }) => [
      `${bridge.name}: ${bridge.lines.join(', ')}`,
      ...sides.map(({ name, lines: more, flow }) => `  ${ARROWS[flow]} ${name}: ${more.join(', ')}`),
      ...entrances.map(({ name, target, port, lines: more }) => `  ← ${name} → ${target}:${port} (${more.join(', ')})`),
    ])
    .map((line) => `${harmless(line)}\n`)
    .join('')
}
