export default async function createConfigAsync() {
  return {
    title: 'Async site',
    contentDir: 'decisions',
    url: 'https://async.example.com',
  };
}
