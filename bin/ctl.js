#!/usr/bin/env node
import module from 'node:module'

module.enableCompileCache?.()
const { main } = await import('../dist/cli/main.js')
// The global, since importing node:process opens all three standard streams, which costs 6 ms.
process.exitCode = await main(process.argv.slice(2))
