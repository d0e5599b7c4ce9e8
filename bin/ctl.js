#!/usr/bin/env node
'use strict'
require('node:module').enableCompileCache?.()
const { main } = require('../dist/ctl/main.cjs')
void main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode
})
