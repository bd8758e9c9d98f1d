"""A schema with everything that GraphQL has, for tests."""

SDL = """
directive @oneOf on INPUT_OBJECT
scalar Date
scalar Odd
enum Genre { NOVEL ESSAY POEM }
interface Node { id: ID! }
type Author implements Node { id: ID!  name: String!  books(first: Int! = 2, genre: Genre): [Book!]!  born: Date }
type Book implements Node { id: ID!  title: String!  genre: Genre!  name: Int  author: Author!  tags: [String!]  related(by: Way!): [Book] }
type Reader { name: Boolean  odd: Odd }
union Item = Book | Author | Reader
input Way @oneOf { id: ID  title: String }
input Page { limit: Int = 10  offset: Int  after: Page }
input NewBook { title: String!  genre: Genre!  pages: [[Int!]!]  published: Date  page: Page  way: Way }
type Query {
  book(id: ID!): Book
  books(page: Page, genres: [Genre!], limit: Int = 5): [Book!]!
  search(text: String!, way: Way): [Item!]
  node(id: ID!): Node
  count(since: Date): Int!
  odd(value: Odd!): Odd
  old: Int @deprecated
}
type Mutation { addBook(book: NewBook!): Book  deleteBook(id: ID!): Boolean }
type Subscription { added: Book  removed: Book }
"""
