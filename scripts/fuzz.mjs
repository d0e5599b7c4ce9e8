// Runs a fuzz by name against a real server. Ends with 1 where it found something.
//   npm run fuzz -- authz [--schemas N] [--seed S] [--first PLACE] [--case FILE]
//     what it found lies in test/fuzz/authz/cases, for a test to replay ever after
//   npm run fuzz -- floods [--store embedded|postgres] [--dist DIR] [--seconds N] [--scale PART] [--only NAME,…]
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createViteServer } from 'vitest/node'
import { root } from './lib/root.mjs'

const USAGE = `usage: npm run fuzz -- authz [--schemas N] [--seed S] [--first PLACE] [--case FILE]
       npm run fuzz -- floods [--store embedded|postgres] [--dist DIR] [--seconds N] [--scale PART] [--only NAME,…]
`

const [name, ...args] = process.argv.slice(2)
if (!/^[a-z-]+$/.test(name ?? '') || !existsSync(join(root, `test/fuzz/${name}/command.ts`))) {
  process.stderr.write(USAGE)
  process.exit(2)
}

// It only loads TypeScript: Node 20 does not, and what is tested are the sources.
const loader = await createViteServer({
  root,
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
})
try {
  const { run } = await loader.ssrLoadModule(`/test/fuzz/${name}/command.ts`)
  process.exitCode = await run(args, (line) => process.stdout.write(`${line}\n`))
} finally {
  await loader.close()
}
