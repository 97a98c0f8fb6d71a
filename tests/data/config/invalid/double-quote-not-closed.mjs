export default { title: "it's }
