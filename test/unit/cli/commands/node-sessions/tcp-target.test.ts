import { describe, expect, it } from 'vitest'
import { tcpWish } from '../../../../../src/cli/commands/node-sessions/tcp-target.ts'

describe('What ctl tcp is to do', () => {
  it.each([
    ['web-1:5432', {}, '127.0.0.1:5432', { host: '127.0.0.1', port: 5432 }],
    ['web-1:443', {}, '127.0.0.1:443', { host: '127.0.0.1', port: 0 }],
    ['web-1:5432', { local: '15432' }, '127.0.0.1:5432', { host: '127.0.0.1', port: 15_432 }],
    ['web-1:5432', { local: '127.0.0.2:80' }, '127.0.0.1:5432', { host: '127.0.0.2', port: 80 }],
    ['web-1:5432', { local: '[::1]:0' }, '127.0.0.1:5432', { host: '::1', port: 0 }],
    ['web-1', { target: '10.0.0.7:5432' }, '10.0.0.7:5432', { host: '127.0.0.1', port: 5432 }],
    ['web-1', { target: '[fd00::7]:5432' }, '[fd00::7]:5432', { host: '127.0.0.1', port: 5432 }],
  ])('%s with %j reaches %s', (word, flags, target, local) => {
    expect(tcpWish(word, flags)).toEqual({ reference: 'web-1', target, local })
  })

  it.each([
    ['web-1', {}, 'say which port of the node is meant'],
    ['web-1:22', { target: '10.0.0.7:22' }, 'say which port of the node is meant'],
    ['web-1:x', {}, 'web-1:x is not NODE:PORT'],
    [':22', {}, ':22 is not NODE:PORT'],
    ['web-1:0', {}, 'web-1:0 has no port between 1 and 65535'],
    ['web-1', { target: '10.0.0.7' }, '--target 10.0.0.7 is not HOST:PORT'],
    ['web-1:22', { local: '0.0.0.0:22' }, '--local 0.0.0.0:22 is not of this machine alone'],
    ['web-1:22', { local: '10.0.0.7:22' }, '--local 10.0.0.7:22 is not of this machine alone'],
    ['web-1:22', { local: '70000' }, '--local 70000 has no port between 1 and 65535'],
    ['web-1:22', { local: 'web:22' }, '--local web:22 is not [ADDRESS:]PORT'],
  ])('is not said by %s with %j', (word, flags, message) => {
    expect(() => tcpWish(word, flags)).toThrow(message)
  })
})
