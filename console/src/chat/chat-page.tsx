export function ChatPage({ session }: { session: string | undefined }) {
  return <h1>{session}</h1>;
}
