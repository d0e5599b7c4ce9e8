#!/usr/bin/env node
// Neither node:module nor node:process is imported: their ES facades read every export, which opens the standard streams.
process.getBuiltinModule('node:module').enableCompileCache?.()
const { main } = await import('../dist/cli/main.js')
process.exitCode = await main(process.argv.slice(2))
