#!/usr/bin/env node
'use strict'
require('node:module').enableCompileCache?.()
const { existsSync } = require('node:fs')
const path = require('node:path')
const built = path.join(__dirname, '../dist/ctl/main.cjs')
if (existsSync(built)) {
  const { main } = require(built)
  void main(process.argv.slice(2)).then((exitCode) => {
    process.exitCode = exitCode
  })
} else {
  process.stderr.write(
    'ctl: This checkout is not built: run `npm run build` in it, or `npm start`, which builds it and serves.\n',
  )
  process.exitCode = 1
}
