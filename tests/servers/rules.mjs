// A service that refuses in its own words, without codes: `node yoga.mjs planted|clean rules`, `node apollo.mjs planted|clean rules`.
import { GraphQLError, Kind } from 'graphql'

const planted = process.argv[2] === 'planted'
const mostLevels = 3

export const typeDefs = /* GraphQL */ `
  input Pick @oneOf { slug: String  number: Int }
  input Range { from: Int!  to: Int! }
  type User { id: ID!  name: String!  friends: [User!]! }
  type Poll { id: ID!  question: String!  isClosed: Boolean!  owner: User! }
  type Query {
    me: User!
    user(id: ID!): User!
    pick(by: Pick!): User!
    polls(first: Int = 3): [Poll!]!
    poll(id: ID!): Poll!
    between(range: Range!): Int!
    search(text: String!): [User!]!
    color(hex: String!): String!
    audit(after: Int): [String!]!
  }
  type Mutation {
    createPoll(question: String!): Poll!
    closePoll(id: ID!): Poll!
    vote(id: ID!, option: String!): Poll!
    renamePoll(id: ID!, question: String): Poll!
    deletePoll(id: ID!): Boolean!
    clear(filter: String, all: Boolean): Int!
    transfer(amount: Float!, to: ID!): Boolean!
    resetPassword(app: String): Boolean!
  }
`

const polls = new Map()
let number = 0
const me = { id: 'u1', name: 'Ada' }
const refuse = (text) => {
  throw new GraphQLError(text)
}
const pollOf = (id) => polls.get(id) ?? refuse(`There is no poll with the id ${id}`)

export const resolvers = {
  User: { friends: () => [me] },
  Poll: { owner: () => me },
  Query: {
    me: () => me,
    user: (_, { id }) => (id === me.id ? me : refuse(`Unknown user: ${id}`)),
    pick: (_, { by }) => {
      if (by.number !== undefined && by.number !== 1) {
        // Planted: a number that nobody has.
        if (planted && by.number < 0) return { ...me, name: by.missing.name }
        refuse('no such user')
      }
      return by.slug === undefined || by.slug === 'ada' ? me : refuse('User not found')
    },
    polls: (_, { first }) => {
      if (first < 0) refuse('First should be a positive number')
      return [...polls.values()].slice(0, Math.min(3, first ?? 3))
    },
    poll: (_, { id }) => pollOf(id),
    between: (_, { range: { from, to } }) => {
      if (from > to) refuse('`from` must not be greater than `to`')
      // Planted: an empty range divides by zero.
      if (planted && from === to) return BigInt(1) / BigInt(to - from)
      return Math.min(to - from, 9)
    },
    search: (_, { text }) => {
      if (text.trim() === '') refuse('Please enter a text to search for')
      return [me]
    },
    color: (_, { hex }) => (/^#[0-9a-f]{6}$/.test(hex) ? hex : refuse(`Expected a hex color, got ${hex}`)),
    // Planted: what everybody is refused is a crash.
    audit: () => (planted ? undefined.entries : refuse('Only admin can perform this action')),
  },
  Mutation: {
    createPoll: (_, { question }) => {
      if (!question.trim()) refuse('A question cannot be empty')
      if (question.length > 40) refuse('The question is too long')
      const made = { id: `p${++number}`, question, isClosed: false }
      polls.set(made.id, made)
      return made
    },
    closePoll: (_, { id }) => {
      const poll = pollOf(id)
      // Planted: a poll is closed only once.
      if (poll.isClosed) planted ? poll.closedBy.name : refuse('The poll has already been closed')
      return Object.assign(poll, { isClosed: true })
    },
    vote: (_, { id, option }) => {
      const poll = pollOf(id)
      if (poll.isClosed) refuse('Poll is closed')
      return option === 'yes' ? poll : refuse('No such option')
    },
    renamePoll: (_, { id, question }) => {
      const poll = pollOf(id)
      if (question == null) refuse('At least one field must be set')
      return Object.assign(poll, { question })
    },
    deletePoll: (_, { id }) => polls.delete(pollOf(id).id),
    clear: (_, { filter, all }) => {
      if (filter != null && all != null) refuse('Both a filter and `all` cannot be given at the same time')
      if (filter == null && all == null) refuse('Must provide either a filter or `all`')
      return 0
    },
    transfer: (_, { amount, to }) => {
      if (!(amount > 0)) refuse('the amount has to be above 0')
      return to === me.id ? refuse('You cannot transfer to yourself') : refuse('Insufficient funds')
    },
    resetPassword: (_, { app }) => (app ? true : refuse('An app name is required for password reset')),
  },
}

// Deeper queries are refused before anything is resolved.
const depth = (node) =>
  node.selectionSet ? 1 + Math.max(0, ...node.selectionSet.selections.map((one) => depth(one))) : 0

export const validationRules = [
  (context) => ({
    OperationDefinition(node) {
      const isIntrospection = node.selectionSet.selections.some((one) => one.kind === Kind.FIELD && one.name.value.startsWith('__'))
      if (!isIntrospection && depth(node) > mostLevels)
        context.reportError(new GraphQLError(`The query exceeds the maximum depth of ${mostLevels}`, { nodes: [node] }))
    },
  }),
]
