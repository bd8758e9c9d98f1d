// A store of notes: `node yoga.mjs planted|clean notes`, `node apollo.mjs planted|clean notes`.
import { GraphQLError, GraphQLScalarType } from 'graphql'

const planted = process.argv[2] === 'planted'

export const typeDefs = /* GraphQL */ `
  scalar Date
  enum Mood { CALM LOUD }
  type Note { id: ID!  text: String!  mood: Mood  written: Date  author: Author }
  type Author { id: ID!  name: String!  notes(first: Int = 2): [Note!]! }
  type Label { id: ID!  text: String! }
  type Board { id: ID!  title: String }
  union Found = Note | Author
  input NewNote { text: String!  mood: Mood = CALM  tags: [String!] }
  type Query {
    notes(first: Int = 2, skip: Int = 0): [Note!]!
    note(id: ID!): Note
    author(id: ID!): Author
    search(text: String!): [Found!]!
    moods: [Mood!]!
    count(since: Date): Int!
    label(id: ID!): Label
    labels: [Label!]!
    board(id: ID!): Board
    latest: Note!
  }
  type Mutation {
    addNote(note: NewNote!): Note!
    deleteNote(id: ID!): Boolean!
    createLabel(text: String!): Label!
    deleteLabel(id: ID!): Boolean!
    createBoard(title: String): Board!
    deleteBoard(id: ID!): Boolean!
    rename(id: ID!, name: String): Author
  }
`

const notes = new Map([['n0', { id: 'n0', text: 'first', mood: 'CALM', written: '2020-01-01', author: null }]])
const labels = new Map()
const boards = new Map()
const deletedNotes = new Set()
const author = { id: 'a1', name: 'Ada' }
let number = 0

export const resolvers = {
  Date: new GraphQLScalarType({
    name: 'Date',
    serialize: (value) => value,
    parseValue: (value) => {
      // Planted: whatever is sent is a date.
      if (!planted && !(typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)))
        throw new GraphQLError('Date cannot represent what is no day', { extensions: { code: 'BAD_USER_INPUT' } })
      return value
    },
  }),
  Author: { notes: (_, { first }) => [...notes.values()].slice(0, Math.max(0, first ?? 2)) },
  Found: { __resolveType: (one) => ('text' in one ? 'Note' : 'Author') },
  Query: {
    notes: (_, { first, skip }) => {
      if (planted && skip < 0) throw new RangeError('offset out of range')
      return [...notes.values()].slice(Math.max(0, skip ?? 0)).slice(0, Math.min(3, Math.max(0, first ?? 2)))
    },
    note: (_, { id }) => {
      if (planted && deletedNotes.has(id)) throw new TypeError("Cannot read properties of undefined (reading 'text')")
      return notes.get(id) ?? null
    },
    author: (_, { id }) => (planted ? { ...author, id, name: null } : { ...author, id }),
    search: (_, { text }) => {
      if (planted) new RegExp(text)
      return [author, notes.get('n0') ?? { id: 'n0', text: 'gone', mood: 'CALM', written: null, author: null }]
    },
    moods: () => (planted ? ['CALM', 'ANGRY'] : ['CALM', 'LOUD']),
    count: () => notes.size,
    label: (_, { id }) => labels.get(id) ?? null,
    labels: () => [...labels.values()].slice(0, 3),
    board: (_, { id }) => boards.get(id) ?? null,
    latest: () => (planted ? null : { id: 'n9', text: 'x', mood: 'LOUD', written: null, author }),
  },
  Mutation: {
    addNote: (_, { note }) => {
      if (planted && note.tags?.length === 0) note.tags[0].trim()
      const made = { id: `n${++number}`, text: note.text, mood: note.mood, written: '2024-02-29', author }
      notes.set(made.id, made)
      return made
    },
    deleteNote: (_, { id }) => {
      const done = notes.delete(id)
      if (done) deletedNotes.add(id)
      return done
    },
    createLabel: (_, { text }) => {
      const made = { id: `l${++number}`, text }
      // Planted: it is not there afterwards.
      if (!planted) labels.set(made.id, made)
      return made
    },
    deleteLabel: (_, { id }) => labels.delete(id),
    createBoard: (_, { title }) => {
      const made = { id: `b${++number}`, title: title ?? null }
      boards.set(made.id, made)
      return made
    },
    // Planted: it stays.
    deleteBoard: (_, { id }) => (planted ? boards.has(id) : boards.delete(id)),
    rename: (_, { id, name }) => {
      if (planted && name === null) name.trim()
      return { id, name: name ?? 'Ada' }
    },
  },
}
