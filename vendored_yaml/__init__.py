import re, yaml
class YAMLError(Exception):
    def __init__(self, problem, line, column, hint=None):
        super().__init__(problem); self.problem=problem; self.line=line; self.column=column; self.hint=hint
class FM: pass
class L(yaml.SafeLoader): pass
L.yaml_implicit_resolvers={k:[x for x in v if x[0]!='tag:yaml.org,2002:timestamp'] for k,v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
def load(t):
    try: return yaml.load(t.replace('\r\n','\n').replace('\r','\n'),L)
    except yaml.MarkedYAMLError as e:
        m=e.problem_mark; raise YAMLError(e.problem, m.line+1, m.column+1)
    except ValueError as e: raise YAMLError(str(e),1,1)
def load_lenient(t):
    try: return load(t),[]
    except YAMLError as first:
        out=[];reps=[]
        for i,l in enumerate(t.split('\n')):
            m=re.match(r'^(\s*(?:- )?(?:[\w-]+: )?)(.*: .*|@.*)$',l) if not re.match(r'^[\w-]+: [^:@]*$',l) else None 
            if m and not m[2].startswith(('"','[','{',"'")):
                r=FM(); r.line=i+1; r.column=len(m[1])+1; r.problem='needs quotes'; r.hint=None; reps.append(r)
                l=m[1]+"'"+m[2].replace("'","''")+"'"
            out.append(l)
        try: return load('\n'.join(out)),reps
        except YAMLError: raise first
def key_lines(t): return {l.split(':')[0]:i+1 for i,l in enumerate(re.split('\r\n|\n|\r',t)) if l and l[0].isalpha()}
def split_front_matter(text):
    f=FM(); f.problem=None; f.block=None; f.line=1; f.body_line=1
    t=text.lstrip('\ufeff'); f.body=t
    m=re.match(r'---[ \t]*(\r\n|\n|\r)',t)
    if m:
        e=re.compile(r'(?:^|(?<=\n)|(?<=\r))---[ \t]*(\r\n|\n|\r|\Z)').search(t,m.end())
        if e: f.block=t[m.end():e.start()]; f.line=2; f.body=t[e.end():]
    return f
def dump(v): return yaml.safe_dump(v,sort_keys=False,allow_unicode=True)
def _int(l,n):
    return l.__class__.__mro__[1].construct_yaml_int(l,n) if len(n.value)<4000 else n.value
L.add_constructor('tag:yaml.org,2002:int',_int)
