// Writes the packaged trusted root of the public Sigstore instance from the copy in @sigstore/tuf.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './lib/root.mjs'

const REPOSITORY = 'https://tuf-repo-cdn.sigstore.dev'
const require = createRequire(import.meta.url)
const seeds = require('@sigstore/tuf/seeds.json')
const { version } = require('@sigstore/tuf/package.json')
const text = Buffer.from(seeds[REPOSITORY].targets['trusted_root.json'], 'base64').toString()
if (/[`\\]|\$\{/.test(text)) throw new Error('the trusted root would need escapes')

writeFileSync(
  join(root, 'src/server/adapters/sigstore/public-good-trusted-root.ts'),
  `/**
 * Trusted root of the public Sigstore instance, unchanged: target \`trusted_root.json\` of its TUF repository
 * (${REPOSITORY}), as in \`seeds.json\` of @sigstore/tuf ${version}. Copyright The Sigstore Authors, Apache-2.0.
 * Written by \`node scripts/update-trusted-root.mjs\`.
 */
export const publicGoodTrustedRoot = \`${text}\`
`,
)
