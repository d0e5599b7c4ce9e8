import { answering, headerOf, lenient, type Fault } from './fault.ts'

/** A request that says that another site made the browser send it. */
const isForeign = (wire: Parameters<typeof headerOf>[0]): boolean =>
  headerOf(wire, 'origin') !== '' || headerOf(wire, 'sec-fetch-site') !== ''

/** Browsers that are made to do what their person does not want, or shown what a program should get. */
export const browsersFaults: readonly Fault[] = [
  {
    fault: 'changes from other sites are taken',
    operation: 'PostDoubleSubmit',
    rule: 'refuses a session whose request comes from elsewhere',
    edge: lenient(isForeign),
    says: '200',
  },
  {
    fault: 'the anti-forgery token is not looked at',
    operation: 'PostDoubleSubmit',
    rule: 'refuses a session without its anti-forgery token',
    edge: lenient((wire) => headerOf(wire, 'x-csrf-token') === 'nonsense'),
    says: '200',
  },
  {
    fault: 'a browser that navigates is shown the problem document',
    operation: 'GetReturn',
    rule: 'sends a browser that navigates on with its failure, and a program none',
    edge: answering((answer, wire) => (headerOf(wire, 'accept') === '' ? answer : { ...answer, status: 400 })),
    says: '400',
  },
]
