import type { ExpressionCase } from './expression-case.ts'

/** Addresses and networks. */
export const ADDRESSES_CASES: readonly ExpressionCase[] = [
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.0.0.0/8' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.1.2.3/32' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.1.2.4/32' },
    answers: {
      'a.in_cidr(n)': 'no',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '0.0.0.0/0' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '::/0' },
    answers: {
      'a.in_cidr(n)': 'no',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '::1', n: '::/0' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '::1', n: '::1/128' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.1.2.3' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.0.0.0/33' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.0.0.0/08' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.0.0.0/+8' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: 'x/8' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '::ffff:10.1.2.3', n: '10.0.0.0/8' },
    answers: {
      'a.in_cidr(n)': 'no',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '::ffff:10.1.2.3', n: '::ffff:0:0/96' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '::ffff:10.0.0.0/104' },
    answers: {
      'a.in_cidr(n)': 'no',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: 'fe80::1%eth0', n: 'fe80::/10' },
    answers: {
      'a.in_cidr(n)': 'no',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: 'fe80::1', n: 'fe80::/10' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: 'fe80::1', n: 'fe80::%eth0/10' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.9.9.9/8' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '2001:db8::1', n: '2001:db8::/32' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '2001:DB8::1', n: '2001:db8::/32' },
    answers: {
      'a.in_cidr(n)': 'yes',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.0.0.0/8/8' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, n string',
    values: { a: '10.1.2.3', n: '10.0.0.0/' },
    answers: {
      'a.in_cidr(n)': 'error',
    },
  },
  {
    fields: 'a ipaddress, b ipaddress',
    values: { a: '::1', b: '0:0::1' },
    answers: {
      'a == b': 'yes',
      'a in [b]': 'yes',
      'a != b': 'no',
    },
  },
  {
    fields: 'a ipaddress, b ipaddress',
    values: { a: '1.2.3.4', b: '::ffff:1.2.3.4' },
    answers: {
      'a == b': 'no',
      'a in [b]': 'no',
      'a != b': 'yes',
    },
  },
  {
    fields: 'a ipaddress, b ipaddress',
    values: { a: 'fe80::1%a', b: 'fe80::1' },
    answers: {
      'a == b': 'no',
      'a in [b]': 'no',
      'a != b': 'yes',
    },
  },
  {
    fields: 'a ipaddress, b ipaddress',
    values: { a: 'fe80::1%a', b: 'fe80::1%a' },
    answers: {
      'a == b': 'yes',
      'a in [b]': 'yes',
      'a != b': 'no',
    },
  },
  {
    fields: 'a ipaddress, b ipaddress',
    values: { a: '2001:DB8::1', b: '2001:db8::1' },
    answers: {
      'a == b': 'yes',
      'a in [b]': 'yes',
      'a != b': 'no',
    },
  },
]
