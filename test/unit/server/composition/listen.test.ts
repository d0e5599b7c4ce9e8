import { expect, it } from 'vitest'
import { urlFromHere } from '../../../../src/server/composition/listen.ts'

it.each([
  ['https://0.0.0.0:7443', 'https://127.0.0.1:7443'],
  ['http://[::]:7443', 'http://[::1]:7443'],
  ['https://192.0.2.7:7443', 'https://192.0.2.7:7443'],
  ['https://[2001:db8::]:7443', 'https://[2001:db8::]:7443'],
  ['https://ctl.example.net', 'https://ctl.example.net'],
])('a server at %s is reached from its own machine at %s', (url, here) => {
  expect(urlFromHere(url)).toBe(here)
})
