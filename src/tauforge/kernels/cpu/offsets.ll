define internal i1 @offsets(ptr %off, i64 %d0, i64 %d1, i64 %d2, i64 %s0, i64 %s1, i64 %s2, i64 %item) #1 {
entry:
  br label %l0
l0:
  %i = phi i64 [ 0, %entry ], [ %i1, %e0 ]
  %n0 = phi i64 [ 0, %entry ], [ %n3, %e0 ]
  %f0 = phi i1 [ true, %entry ], [ %f3, %e0 ]
  %b0 = mul i64 %i, %s0
  br label %l1
l1:
  %j = phi i64 [ 0, %l0 ], [ %j1, %e1 ]
  %n1 = phi i64 [ %n0, %l0 ], [ %n3, %e1 ]
  %f1 = phi i1 [ %f0, %l0 ], [ %f3, %e1 ]
  %c0 = mul i64 %j, %s1
  %b1 = add i64 %b0, %c0
  br label %l2
l2:
  %k = phi i64 [ 0, %l1 ], [ %k1, %l2 ]
  %n2 = phi i64 [ %n1, %l1 ], [ %n3, %l2 ]
  %f2 = phi i1 [ %f1, %l1 ], [ %f3, %l2 ]
  %c1 = mul i64 %k, %s2
  %b2 = add i64 %b1, %c1
  %p = getelementptr i64, ptr %off, i64 %n2
  store i64 %b2, ptr %p, align 8
  %want = mul i64 %n2, %item
  %same = icmp eq i64 %want, %b2
  %f3 = and i1 %f2, %same
  %n3 = add i64 %n2, 1
  %k1 = add i64 %k, 1
  %m2 = icmp slt i64 %k1, %d2
  br i1 %m2, label %l2, label %e1
e1:
  %j1 = add i64 %j, 1
  %m1 = icmp slt i64 %j1, %d1
  br i1 %m1, label %l1, label %e0
e0:
  %i1 = add i64 %i, 1
  %m0 = icmp slt i64 %i1, %d0
  br i1 %m0, label %l0, label %done
done:
  ret i1 %f3
}
